import { promisify } from 'node:util';
import { inflateRaw, inflateRawSync } from 'node:zlib';

/**
 * `damaged`: the structure is invalid, cut off or has overlapping entries. `too_many_entries` and `too_large`: a bound
 * of the caller is exceeded. `unknown_method`: an entry is neither stored nor deflated.
 */
export type ZipErrorReason = 'damaged' | 'too_many_entries' | 'too_large' | 'unknown_method';

/** An archive that cannot be read. Each caller maps `reason` to an error of its own. */
export class ZipError extends Error {
  readonly reason: ZipErrorReason;
  constructor(reason: ZipErrorReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ZipError';
    this.reason = reason;
  }
}

export interface ZipEntry {
  /** With `/` between folders. */
  readonly name: string;
  /** 0 stored, 8 deflated. */
  readonly method: number;
  readonly crc: number;
  readonly encrypted: boolean;
  /** A symbolic link, as archives created on Unix may hold. */
  readonly isLink: boolean;
  readonly packed: Uint8Array;
}

/** An archive that is read in parts. */
export interface ZipSource {
  readonly bytes: number;
  /** Returns fewer bytes where the content ends. */
  read(position: number, length: number): Promise<Buffer>;
}

const signatures = {
  end: 0x06054b50,
  end64: 0x06064b50,
  locator64: 0x07064b50,
  central: 0x02014b50,
  local: 0x04034b50,
};
const sizes = { end: 22, locator64: 20, central: 46, local: 30 };
const full16 = 0xffff;
const full32 = 0xffffffff;
/** The end record, followed by the longest comment. */
const longestTail = sizes.end + full16;

/** Recognizes an archive by its first bytes. */
export function isZip(head: Buffer): boolean {
  return head.length >= 4 && [signatures.local, signatures.end].includes(head.readUInt32LE(0));
}

/**
 * Reads the central directory of an archive in memory. Refuses entries that share bytes, which would unpack one piece
 * many times, and entries outside of the file. Unpacks nothing.
 * @throws ZipError `damaged` or `too_many_entries`
 */
export function readZipDirectory(bytes: Uint8Array, maxEntries: number): ZipEntry[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  try {
    const { count, offset } = locateDirectory(buffer);
    if (count > maxEntries) throw new ZipError('too_many_entries', `${count} entries, at most ${maxEntries}`);
    const entries = readEntries(buffer, { count, offset });
    refuseOverlaps(entries);
    return entries;
  } catch (cause) {
    // Buffer throws RangeError when a position is outside the file.
    if (cause instanceof RangeError) throw new ZipError('damaged', 'the archive is cut off', cause);
    throw cause;
  }
}

/**
 * Unpacks an entry to at most `limit` bytes, whatever size the directory claims. The caller verifies the checksum.
 * @throws ZipError `too_large`, `unknown_method` or `damaged`
 */
export function unpackZipEntry({ method, packed }: ZipEntry, limit: number): Uint8Array {
  const tooLarge = (cause?: unknown) => new ZipError('too_large', `the entry exceeds ${limit} bytes`, cause);
  if (limit <= 0 || (method === 0 && packed.length > limit)) throw tooLarge();
  if (method === 0) return packed;
  if (method !== 8) throw new ZipError('unknown_method', `the compression method ${method} is unknown`);
  try {
    return inflateRawSync(packed, { maxOutputLength: limit });
  } catch (cause) {
    if (cause instanceof RangeError) throw tooLarge(cause);
    throw new ZipError('damaged', 'the entry cannot be unpacked', cause);
  }
}

/** A larger central directory is not that of a document. */
const largestDirectory = 16 * 1024 * 1024;
/** The part of a directory that is searched: office programs write the entries that matter first. */
const searchedBytes = 2 * 1024 * 1024;
export const mostSearchedEntries = 10_000;

/** Unpacks in the thread pool, because the time depends on the archive. */
const inflate = promisify(inflateRaw);

/**
 * Reads one small entry without loading the archive. Returns undefined if no entry of that name (letter case aside) is
 * among the first 10,000, if it exceeds `limit` bytes packed or unpacked, or if the archive is damaged.
 */
export async function readZipEntry(source: ZipSource, name: string, limit: number): Promise<Buffer | undefined> {
  const directory = await readSearchedDirectory(source);
  if (directory === undefined) return undefined;
  const entry = findEntry(directory.bytes, name);
  if (entry === undefined || entry.packed > limit) return undefined;
  const at = directory.shift + entry.local;
  const header = await source.read(at, sizes.local);
  const length = header.length < sizes.local ? undefined : readLocalHeaderLength(header, 0);
  if (length === undefined) return undefined;
  const data = await source.read(at + length, entry.packed);
  if (data.length < entry.packed) return undefined;
  if (entry.method === 0) return data;
  if (entry.method !== 8) return undefined;
  try {
    return await inflate(data, { maxOutputLength: limit });
  } catch {
    return undefined;
  }
}

/** `shift`: the bytes of the file in front of the archive. */
async function readSearchedDirectory(source: ZipSource): Promise<{ bytes: Buffer; shift: number } | undefined> {
  const tailLength = Math.min(source.bytes, longestTail);
  const tailAt = source.bytes - tailLength;
  const end = findEndRecord(await source.read(tailAt, tailLength));
  if (end === undefined || end.hasLocator64 || end.size > largestDirectory) return undefined;
  const at = tailAt + end.at - end.size;
  if (at < end.offset) return undefined;
  const bytes = await source.read(at, Math.min(end.size, searchedBytes));
  return { bytes, shift: at - end.offset };
}

function findEntry(directory: Buffer, name: string): CentralHeader | undefined {
  let at = 0;
  for (let entries = 0; entries < mostSearchedEntries && at + sizes.central <= directory.length; entries += 1) {
    const header = readCentralHeader(directory, at);
    if (header === undefined) return undefined;
    const { nameStart, nameEnd } = header;
    const hasLength = nameEnd - nameStart === name.length;
    if (hasLength && isNamed(directory.toString('latin1', nameStart, nameEnd), name)) return header;
    at = header.end;
  }
  return undefined;
}

function isNamed(found: string, name: string): boolean {
  return found.replaceAll('\\', '/').toLowerCase() === name.toLowerCase();
}

interface EndRecord {
  readonly at: number;
  readonly count: number;
  /** The offset and size of the central directory, in bytes. */
  readonly size: number;
  readonly offset: number;
  readonly hasLocator64: boolean;
}

function findEndRecord(tail: Buffer): EndRecord | undefined {
  for (let at = tail.length - sizes.end; at >= 0; at -= 1) {
    if (tail.readUInt32LE(at) !== signatures.end) continue;
    return {
      at,
      count: tail.readUInt16LE(at + 10),
      size: tail.readUInt32LE(at + 12),
      offset: tail.readUInt32LE(at + 16),
      hasLocator64: at >= sizes.locator64 && tail.readUInt32LE(at - sizes.locator64) === signatures.locator64,
    };
  }
  return undefined;
}

function locateDirectory(buffer: Buffer): { count: number; offset: number } {
  const tailAt = Math.max(0, buffer.length - longestTail);
  const end = findEndRecord(buffer.subarray(tailAt));
  if (end === undefined) throw invalid();
  const { count, offset } = end;
  if ((count !== full16 && offset !== full32) || tailAt + end.at < sizes.locator64) return { count, offset };
  const locator = tailAt + end.at - sizes.locator64;
  if (buffer.readUInt32LE(locator) !== signatures.locator64) return { count, offset };
  const end64 = Number(buffer.readBigUInt64LE(locator + 8));
  if (buffer.readUInt32LE(end64) !== signatures.end64) throw invalid();
  return { count: Number(buffer.readBigUInt64LE(end64 + 32)), offset: Number(buffer.readBigUInt64LE(end64 + 48)) };
}

function invalid(): ZipError {
  return new ZipError('damaged', 'the structure of the archive is invalid');
}

interface CentralHeader {
  readonly method: number;
  readonly packed: number;
  /** Position of the local header. */
  readonly local: number;
  readonly nameStart: number;
  readonly nameEnd: number;
  readonly extraEnd: number;
  /** Position of the next header. */
  readonly end: number;
}

function readCentralHeader(directory: Buffer, at: number): CentralHeader | undefined {
  if (directory.readUInt32LE(at) !== signatures.central) return undefined;
  const nameStart = at + sizes.central;
  const nameEnd = nameStart + directory.readUInt16LE(at + 28);
  const extraEnd = nameEnd + directory.readUInt16LE(at + 30);
  return {
    method: directory.readUInt16LE(at + 10),
    packed: directory.readUInt32LE(at + 20),
    local: directory.readUInt32LE(at + 42),
    nameStart,
    nameEnd,
    extraEnd,
    end: extraEnd + directory.readUInt16LE(at + 32),
  };
}

/** Returns the bytes from the local header to the data; undefined if there is no local header at `at`. */
function readLocalHeaderLength(buffer: Buffer, at: number): number | undefined {
  if (buffer.readUInt32LE(at) !== signatures.local) return undefined;
  return sizes.local + buffer.readUInt16LE(at + 26) + buffer.readUInt16LE(at + 28);
}

interface PlacedEntry extends ZipEntry {
  readonly start: number;
  readonly end: number;
}

function readEntries(buffer: Buffer, { count, offset }: { count: number; offset: number }): PlacedEntry[] {
  const entries: PlacedEntry[] = [];
  let at = offset;
  for (let index = 0; index < count; index += 1) {
    const header = readCentralHeader(buffer, at);
    if (header === undefined) throw invalid();
    const { packed, local } = readPlace64(buffer, at, header);
    const headerLength = readLocalHeaderLength(buffer, local);
    if (headerLength === undefined) throw invalid();
    const end = local + headerLength + packed;
    if (header.extraEnd > buffer.length || end > buffer.length) throw invalid();
    entries.push({
      name: buffer.toString('utf8', header.nameStart, header.nameEnd).replaceAll('\\', '/'),
      method: header.method,
      crc: buffer.readUInt32LE(at + 16),
      isLink: ((buffer.readUInt32LE(at + 38) >>> 16) & 0o170000) === 0o120000,
      encrypted: (buffer.readUInt16LE(at + 8) & 1) === 1,
      packed: buffer.subarray(local + headerLength, end),
      start: local,
      end,
    });
    at = header.end;
  }
  return entries;
}

/** A zip64 entry keeps the values that do not fit in its extra field, in a fixed order. */
function readPlace64(buffer: Buffer, start: number, header: CentralHeader): { packed: number; local: number } {
  let { packed, local } = header;
  const unpackedIsLong = buffer.readUInt32LE(start + 24) === full32;
  for (let at = header.nameEnd; at + 4 <= header.extraEnd; at += 4 + buffer.readUInt16LE(at + 2)) {
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
