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
