import { setImmediate as afterOtherWork } from 'node:timers/promises';
import { promisify } from 'node:util';
import { inflateRaw, inflateRawSync } from 'node:zlib';
import { type Entry, fromBufferPromise, fromRandomAccessReaderPromise, RandomAccessReader, type ZipFile } from 'yauzl';

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

/** Recognizes an archive by its first bytes: a local header, or the end record of an archive without entries. */
export function isZip(head: Buffer): boolean {
  return head.length >= 4 && [0x04034b50, 0x06054b50].includes(head.readUInt32LE(0));
}

/** Names are decoded here, as UTF-8. The sizes that a directory states are never trusted, so they are not compared. */
const options = { decodeStrings: false, validateEntrySizes: false, autoClose: false } as const;

/**
 * Reads the central directory of an archive in memory. Refuses entries that share bytes, which would unpack one piece
 * many times, and entries outside of the file. Unpacks nothing.
 * @throws ZipError `damaged` or `too_many_entries`
 */
export async function readZipDirectory(bytes: Uint8Array, maxEntries: number): Promise<ZipEntry[]> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  try {
    const zip = await fromBufferPromise(buffer, options);
    if (zip.entryCount > maxEntries)
      throw new ZipError('too_many_entries', `${zip.entryCount} entries, at most ${maxEntries}`);
    const entries: PlacedEntry[] = [];
    for await (const entry of zip.eachEntry()) entries.push(await placeEntry(zip, entry, buffer));
    refuseOverlaps(entries);
    return entries;
  } catch (cause) {
    if (cause instanceof ZipError) throw cause;
    throw new ZipError('damaged', 'the archive is cut off or invalid', cause);
  }
}

interface PlacedEntry extends ZipEntry {
  readonly start: number;
  readonly end: number;
}

async function placeEntry(zip: ZipFile, entry: Entry, buffer: Buffer): Promise<PlacedEntry> {
  const { fileDataStart } = await zip.readLocalFileHeaderPromise(entry, { minimal: true });
  const end = fileDataStart + entry.compressedSize;
  if (end > buffer.length) throw new ZipError('damaged', 'an entry ends after the archive');
  return {
    name: nameOf(entry),
    method: entry.compressionMethod,
    crc: entry.crc32,
    isLink: ((entry.externalFileAttributes >>> 16) & 0o170000) === 0o120000,
    encrypted: entry.isEncrypted(),
    packed: buffer.subarray(fileDataStart, end),
    start: entry.relativeOffsetOfLocalHeader,
    end,
  };
}

function nameOf({ fileNameRaw }: Entry): string {
  return fileNameRaw.toString('utf8').replaceAll('\\', '/');
}

function refuseOverlaps(entries: readonly PlacedEntry[]): void {
  const sorted = entries.toSorted((a, b) => a.start - b.start);
  for (const [index, entry] of sorted.entries()) {
    const next = sorted[index + 1];
    if (next !== undefined && next.start < entry.end) throw new ZipError('damaged', 'two entries share bytes');
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

export const mostSearchedEntries = 10_000;
/** The part of a directory that is searched: office programs write the entries that matter first. */
const searchedBytes = 2 * 1024 * 1024;

/** Unpacks in the thread pool, because the time depends on the archive. */
const inflate = promisify(inflateRaw);

/**
 * Reads one small entry without loading the archive. Returns undefined if no entry of that name (letter case aside) is
 * among the first 10,000, if it exceeds `limit` bytes packed or unpacked, or if the archive is damaged.
 */
export async function readZipEntry(source: ZipSource, name: string, limit: number): Promise<Buffer | undefined> {
  try {
    const zip = await fromRandomAccessReaderPromise(new PieceReader(source), source.bytes, options);
    const entry = await findEntry(zip, name);
    if (entry === undefined || entry.compressedSize > limit) return undefined;
    const { fileDataStart } = await zip.readLocalFileHeaderPromise(entry, { minimal: true });
    const data = await source.read(fileDataStart, entry.compressedSize);
    if (data.length < entry.compressedSize) return undefined;
    if (entry.compressionMethod === 0) return data;
    return entry.compressionMethod === 8 ? await inflate(data, { maxOutputLength: limit }) : undefined;
  } catch {
    return undefined;
  }
}

/** The number of entries after which the reader lets the event loop run other work. */
const entriesAtOnce = 100;

async function findEntry(zip: ZipFile, name: string): Promise<Entry | undefined> {
  let searched = 0;
  for await (const entry of zip.eachEntry()) {
    searched += 1;
    if (nameOf(entry).toLowerCase() === name.toLowerCase()) return entry;
    if (searched === mostSearchedEntries) return undefined;
    if (searched % entriesAtOnce === 0) await afterOtherWork();
  }
  return undefined;
}

const pieceBytes = 64 * 1024;

/** Answers the many small reads of a directory from pieces of the source, and fails after `searchedBytes`. */
class PieceReader extends RandomAccessReader {
  readonly #source: ZipSource;
  #piece: Buffer = Buffer.alloc(0);
  #position = 0;
  #left = searchedBytes;

  constructor(source: ZipSource) {
    super();
    this.#source = source;
  }

  override read(target: Buffer, offset: number, length: number, position: number, done: Done): void {
    this.#load(position, length).then((bytes) => done(null, bytes.copy(target, offset)), done);
  }

  async #load(position: number, length: number): Promise<Buffer> {
    const isLoaded = position >= this.#position && position + length <= this.#position + this.#piece.length;
    if (!isLoaded) {
      const wanted = Math.max(length, pieceBytes);
      this.#left -= wanted;
      if (this.#left < 0) throw new ZipError('too_large', 'the directory is too large');
      this.#piece = await this.#source.read(position, wanted);
      this.#position = position;
    }
    return this.#piece.subarray(position - this.#position, position - this.#position + length);
  }
}

/** The type of yauzl omits the number of bytes, which it compares with the number that it asked for. */
type Done = (error: Error | null, bytes?: number) => void;
