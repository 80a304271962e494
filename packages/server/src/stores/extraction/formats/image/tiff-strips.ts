import { inflateSync } from 'node:zlib';
import { tiffDamaged } from './tiff-directory.ts';

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
