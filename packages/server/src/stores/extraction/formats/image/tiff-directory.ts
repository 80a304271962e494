import { inflateSync } from 'node:zlib';
import { fileDamaged } from '../../extraction-error.ts';

export const tiffDamaged = (detail: string, cause?: unknown) => fileDamaged('TIFF', detail, cause);

/** The fields of one page, by their numbers. */
export interface TiffDirectory {
  first(tag: number): number | undefined;
  all(tag: number): readonly number[];
  bytes(tag: number): Uint8Array | undefined;
}

export interface TiffFile {
  readonly bytes: Buffer;
  readonly isLittleEndian: boolean;
  readonly directories: readonly TiffDirectory[];
}

/** The size in bytes of each type of value that pictures use. */
const sizes: Readonly<Record<number, number>> = { 1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 7: 1 };
/** A page of thin strips has some thousand values in a field. */
const mostValues = 200_000;
const mostFields = 500;
const mostPages = 10_000;

/**
 * Reads the directories of the pages, without their pixels. Reduced pictures of other pages are left out.
 * @throws ExtractionError when they are damaged or form a loop
 */
export function readTiffDirectories(file: Uint8Array): TiffFile {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.length);
  const mark = bytes.toString('latin1', 0, 2);
  if (bytes.length < 8 || (mark !== 'II' && mark !== 'MM')) throw tiffDamaged('it has no TIFF header');
  const isLittleEndian = mark === 'II';
  const short = (at: number) => (isLittleEndian ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at));
  const long = (at: number) => (isLittleEndian ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
  if (short(2) === 43) throw tiffDamaged('it is a BigTIFF file, which is not supported');
  if (short(2) !== 42) throw tiffDamaged('it has no TIFF header');
  const directories: TiffDirectory[] = [];
  const visited = new Set<number>();
  try {
    for (let at = long(4); at !== 0; ) {
      if (visited.has(at)) throw tiffDamaged('its pages form a loop');
      visited.add(at);
      if (visited.size > mostPages) throw tiffDamaged(`it has more than ${mostPages} pages`);
      const count = short(at);
      if (count > mostFields) throw tiffDamaged('a page has too many fields');
      const directory = readDirectory({ bytes, short, long }, at + 2, count);
      if (((directory.first(254) ?? 0) & 1) === 0) directories.push(directory);
      at = long(at + 2 + count * 12);
    }
  } catch (cause) {
    // Buffer throws RangeError when a position is outside the file.
    if (cause instanceof RangeError) throw tiffDamaged('it is cut off', cause);
    throw cause;
  }
  if (directories.length === 0) throw tiffDamaged('it has no page');
  return { bytes, isLittleEndian, directories };
}

interface Numbers {
  readonly bytes: Buffer;
  short(at: number): number;
  long(at: number): number;
}

interface Field {
  readonly type: number;
  readonly count: number;
  readonly at: number;
}

function readDirectory(numbers: Numbers, start: number, count: number): TiffDirectory {
  const { bytes, short, long } = numbers;
  const fields = new Map<number, Field>();
  for (let entry = 0; entry < count; entry += 1) {
    const at = start + entry * 12;
    const type = short(at + 2);
    const length = (sizes[type] ?? 0) * long(at + 4);
    if (length > 0) fields.set(short(at), { type, count: long(at + 4), at: length <= 4 ? at + 8 : long(at + 8) });
  }
  const all = (tag: number): number[] => {
    const field = fields.get(tag);
    if (field === undefined) return [];
    if (field.count > mostValues) throw tiffDamaged('a field has too many values');
    const size = sizes[field.type] ?? 1;
    return Array.from({ length: field.count }, (_, index) => valueAt(numbers, field.type, field.at + index * size));
  };
  return {
    all,
    first: (tag) => {
      const field = fields.get(tag);
      return field === undefined ? undefined : valueAt(numbers, field.type, field.at);
    },
    bytes: (tag) => {
      const field = fields.get(tag);
      return field === undefined ? undefined : bytes.subarray(field.at, field.at + field.count);
    },
  };
}

function valueAt({ bytes, short, long }: Numbers, type: number, at: number): number {
  if (type === 3) return short(at);
  if (type === 4) return long(at);
  if (type === 5) return long(at) / (long(at + 4) || 1);
  return bytes.readUInt8(at);
}

/** Compressions of TIFF that are undone here. PDFium decodes the fax codes and JPEG. */
export const tiffCompressions = { none: 1, fax: [2, 3, 4], lzw: 5, jpeg: 7, deflate: [8, 32_946], packBits: 32_773 };

/** Unpacks a strip or tile to exactly `expected` bytes. What is missing at its end is 0. */
export function unpackStrip(packed: Uint8Array, compression: number, expected: number): Uint8Array {
  if (compression === tiffCompressions.none) return filled(packed, expected);
  if (compression === tiffCompressions.lzw) return unpackLzw(packed, expected);
  if (compression === tiffCompressions.packBits) return unpackRuns(packed, expected);
  if (!tiffCompressions.deflate.includes(compression))
    throw tiffDamaged(`its compression ${compression} is not supported`);
  try {
    return filled(inflateSync(packed, { maxOutputLength: expected }), expected);
  } catch (cause) {
    throw tiffDamaged('its pixels cannot be unpacked, or are more than its header says', cause);
  }
}

function filled(bytes: Uint8Array, expected: number): Uint8Array {
  if (bytes.length >= expected) return bytes.slice(0, expected);
  const whole = new Uint8Array(expected);
  whole.set(bytes);
  return whole;
}

/** Runs of equal bytes, and bytes as they are. */
function unpackRuns(packed: Uint8Array, expected: number): Uint8Array {
  const bytes = new Uint8Array(expected);
  let to = 0;
  for (let at = 0; at < packed.length && to < expected; ) {
    const count = packed[at] ?? 128;
    at += 1;
    if (count < 128) {
      bytes.set(packed.subarray(at, at + Math.min(count + 1, expected - to)), to);
      to += count + 1;
      at += count + 1;
    } else if (count > 128) {
      bytes.fill(packed[at] ?? 0, to, Math.min(expected, to + 257 - count));
      to += 257 - count;
      at += 1;
    }
  }
  return bytes;
}

const [clearCode, endCode] = [256, 257];

/**
 * Codes of 9 to 12 bits, the highest bit first. Each code after the first adds one to the table: the text of the code
 * before it and one byte.
 */
function unpackLzw(packed: Uint8Array, expected: number): Uint8Array {
  const bytes = new Uint8Array(expected);
  // The text of each code, as its place among the bytes written.
  const starts = new Int32Array(4096);
  const lengths = new Int32Array(4096);
  let [to, next, width, previous, buffer, bits] = [0, 258, 9, -1, 0, 0];
  for (const byte of packed) {
    buffer = ((buffer << 8) | byte) & 0xff_ff_ff;
    bits += 8;
    if (bits < width) continue;
    bits -= width;
    const code = (buffer >> bits) & ((1 << width) - 1);
    if (code === endCode || to >= expected) break;
    if (code === clearCode) {
      [next, width, previous] = [258, 9, -1];
      continue;
    }
    if (code > next || (code === next && previous === -1)) throw tiffDamaged('its pixels have an invalid code');
    const start = to;
    if (code < 256) bytes[to++] = code;
    else {
      // The text of the newest code continues while it is written, so it is copied byte by byte.
      const from = code === next ? start - (lengthOf(previous) ?? 0) : (starts[code] ?? 0);
      const length = code === next ? lengthOf(previous) + 1 : (lengths[code] ?? 0);
      for (let index = 0; index < length && to < expected; index += 1) bytes[to++] = bytes[from + index] ?? 0;
    }
    if (previous !== -1 && next < 4096) {
      starts[next] = start - lengthOf(previous);
      lengths[next] = lengthOf(previous) + 1;
      next += 1;
    }
    if (next + 1 >= 1 << width && width < 12) width += 1;
    previous = code;
  }
  return bytes;

  function lengthOf(code: number): number {
    return code < 256 ? 1 : (lengths[code] ?? 0);
  }
}

/** Adds to each sample the same sample of the pixel before, in place. */
export function removeDifferences(
  bytes: Uint8Array,
  {
    rowBytes,
    channels,
    depth,
    isLittleEndian,
  }: { rowBytes: number; channels: number; depth: number; isLittleEndian: boolean },
): void {
  if (depth === 8) {
    for (let at = 0; at < bytes.length; at += 1)
      if (at % rowBytes >= channels) bytes[at] = (bytes[at] ?? 0) + (bytes[at - channels] ?? 0);
    return;
  }
  if (depth !== 16) throw tiffDamaged('it stores differences of samples that are no bytes');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at + 1 < bytes.length; at += 2) {
    if (at % rowBytes < 2 * channels) continue;
    const sum = view.getUint16(at, isLittleEndian) + view.getUint16(at - 2 * channels, isLittleEndian);
    view.setUint16(at, sum & 0xffff, isLittleEndian);
  }
}
