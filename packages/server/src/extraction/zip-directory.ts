import { fileDamaged, unpackedLimit } from './extraction-error.ts';

export interface ZipEntry {
  readonly name: string;
  /** 0 stored, 8 deflated. */
  readonly method: number;
  readonly crc: number;
  readonly encrypted: boolean;
  /** A symbolic link, as archives made on Unix may hold. */
  readonly isLink: boolean;
  readonly packed: Uint8Array;
}

const signatures = { end: 0x06054b50, end64: 0x06064b50, locator64: 0x07064b50, entry: 0x02014b50, local: 0x04034b50 };
const full16 = 0xffff;
const full32 = 0xffffffff;

/**
 * Reads the central directory of a zip file; refuses what real packages never have: entries that share bytes (a way to
 * unpack one piece many times) or lie outside of the file.
 */
export function readZipDirectory(bytes: Uint8Array, limits: { format: string; maxEntries: number }): ZipEntry[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  try {
    const { count, offset } = findDirectory(buffer);
    if (count > limits.maxEntries) throw unpackedLimit(`${count} entries, at most ${limits.maxEntries}`);
    const entries = readEntries(buffer, { count, offset });
    refuseOverlaps(entries);
    return entries;
  } catch (cause) {
    if (cause instanceof RangeError) throw fileDamaged(limits.format, 'it is cut off or no zip file', cause);
    throw cause;
  }
}

/** RangeError is what Buffer throws too when a position lies outside of the file. */
function invalid(): RangeError {
  return new RangeError('invalid zip structure');
}

function findDirectory(buffer: Buffer): { count: number; offset: number } {
  const lowest = Math.max(0, buffer.length - 22 - full16);
  for (let at = buffer.length - 22; at >= lowest; at -= 1) {
    if (buffer.readUInt32LE(at) !== signatures.end) continue;
    const count = buffer.readUInt16LE(at + 10);
    const offset = buffer.readUInt32LE(at + 16);
    if (count !== full16 && offset !== full32) return { count, offset };
    if (at < 20 || buffer.readUInt32LE(at - 20) !== signatures.locator64) return { count, offset };
    const end64 = Number(buffer.readBigUInt64LE(at - 12));
    if (buffer.readUInt32LE(end64) !== signatures.end64) throw invalid();
    return {
      count: Number(buffer.readBigUInt64LE(end64 + 32)),
      offset: Number(buffer.readBigUInt64LE(end64 + 48)),
    };
  }
  throw invalid();
}

function readEntries(buffer: Buffer, { count, offset }: { count: number; offset: number }): PlacedEntry[] {
  const entries: PlacedEntry[] = [];
  let at = offset;
  for (let index = 0; index < count; index += 1) {
    if (buffer.readUInt32LE(at) !== signatures.entry) throw invalid();
    const nameEnd = at + 46 + buffer.readUInt16LE(at + 28);
    const extraEnd = nameEnd + buffer.readUInt16LE(at + 30);
    const sizes = readSizes(buffer, { at, extraStart: nameEnd, extraEnd });
    const dataStart = findData(buffer, sizes.local);
    const end = dataStart + sizes.packed;
    if (extraEnd > buffer.length || end > buffer.length) throw invalid();
    entries.push({
      name: buffer.toString('utf8', at + 46, nameEnd).replaceAll('\\', '/'),
      method: buffer.readUInt16LE(at + 10),
      crc: buffer.readUInt32LE(at + 16),
      isLink: ((buffer.readUInt32LE(at + 38) >>> 16) & 0o170000) === 0o120000,
      encrypted: (buffer.readUInt16LE(at + 8) & 1) === 1,
      packed: buffer.subarray(dataStart, end),
      start: sizes.local,
      end,
    });
    at = extraEnd + buffer.readUInt16LE(at + 32);
  }
  return entries;
}

interface PlacedEntry extends ZipEntry {
  readonly start: number;
  readonly end: number;
}

function findData(buffer: Buffer, local: number): number {
  if (buffer.readUInt32LE(local) !== signatures.local) throw invalid();
  return local + 30 + buffer.readUInt16LE(local + 26) + buffer.readUInt16LE(local + 28);
}

/** Sizes of a zip64 entry stand in its extra field, in a fixed order, only those that do not fit. */
function readSizes(buffer: Buffer, place: { at: number; extraStart: number; extraEnd: number }) {
  let packed = buffer.readUInt32LE(place.at + 20);
  let local = buffer.readUInt32LE(place.at + 42);
  const unpackedIsLong = buffer.readUInt32LE(place.at + 24) === full32;
  for (let at = place.extraStart; at + 4 <= place.extraEnd; at += 4 + buffer.readUInt16LE(at + 2)) {
    if (buffer.readUInt16LE(at) !== 1) continue;
    let value = at + 4 + (unpackedIsLong ? 8 : 0);
    if (packed === full32) {
      packed = Number(buffer.readBigUInt64LE(value));
      value += 8;
    }
    if (local === full32) local = Number(buffer.readBigUInt64LE(value));
  }
  return { packed, local };
}

function refuseOverlaps(entries: readonly PlacedEntry[]): void {
  const sorted = entries.toSorted((a, b) => a.start - b.start);
  for (const [index, entry] of sorted.entries()) {
    const next = sorted[index + 1];
    if (next !== undefined && next.start < entry.end) throw invalid();
  }
}
