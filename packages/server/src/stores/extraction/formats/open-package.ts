import { crc32 } from 'node:zlib';
import { readZipDirectory, unpackZipEntry, type ZipEntry, ZipError } from '../../../platform/zip.ts';
import {
  fileDamaged,
  fileEmpty,
  fileEncrypted,
  fileTypeMismatch,
  passwordMissing,
  unpackedLimit,
} from '../extraction-error.ts';
import { describeCutParts } from './cut-parts.ts';
import { isEncryptedOffice } from './office-password.ts';

interface Bounds {
  readonly format: string;
  readonly limits: PackageLimits;
  /** The number of bytes that may still be unpacked. */
  readonly left: number;
}

const formats = { docx: 'Word', xlsx: 'Excel', pptx: 'PowerPoint' } as const;

/** The XML parts of an Office package, unpacked. */
export interface OfficePackage {
  readonly parts: ReadonlyMap<string, Uint8Array>;
  /** The warning about parts with text that end too early. */
  readonly warnings: readonly string[];
}

/** An archive whose entries are unpacked when they are read, within one limit for all of them. */
export interface Archive {
  readonly names: readonly string[];
  /** The bytes that an entry takes in the archive; 0 when there is none. */
  packedBytes(name: string): number;
  /** The entry of exactly this name, unpacked once and kept; undefined when there is none. */
  read(name: string): Uint8Array | undefined;
  /** Like `read`, but the entry is not kept. */
  take(name: string): Uint8Array | undefined;
}

/**
 * Unpacks the XML parts of an Office package within bounds and refuses document type definitions: no entity is ever
 * expanded, no other file opened. Pictures and other parts stay packed.
 */
export async function openPackage(
  bytes: Uint8Array,
  extension: keyof typeof formats,
  limits: PackageLimits = packageLimits,
): Promise<OfficePackage> {
  const format = formats[extension];
  if (bytes.length === 0) throw fileEmpty();
  refuseOtherContainers(bytes, format);
  const archive = await openArchive(bytes, format, limits);
  const parts = new Map<string, Uint8Array>();
  for (const name of archive.names) {
    const part = /\.(?:xml|rels)$/i.test(name) ? archive.read(name) : undefined;
    if (part === undefined) continue;
    refuseDoctype(part, { format, name });
    parts.set(name, part);
  }
  if (!parts.has('[Content_Types].xml')) throw fileTypeMismatch(format, 'another kind of zip file');
  return { parts, warnings: describeCutParts([...parts].filter(([name]) => /^(?:word|xl|ppt)\/.*\.xml$/i.test(name))) };
}

/**
 * Reads the directory of an archive.
 * @throws ExtractionError when it is damaged, encrypted or has too many entries
 */
export async function openArchive(
  bytes: Uint8Array,
  format: string,
  limits: PackageLimits = packageLimits,
): Promise<Archive> {
  if (bytes.length === 0) throw fileEmpty();
  const listed = await readEntries(bytes, format, limits.entries);
  const entries = new Map(listed.map((entry) => [entry.name, entry]));
  if (entries.values().some((entry) => entry.encrypted)) throw fileEncrypted(format);
  const unpacked = new Map<string, Uint8Array>();
  let left = limits.unpackedBytes;
  function take(name: string): Uint8Array | undefined {
    const entry = entries.get(name);
    if (entry === undefined || unpacked.has(name)) return unpacked.get(name);
    const part = inflate(entry, { format, limits, left });
    left -= part.length;
    return part;
  }
  return {
    names: [...entries.keys()],
    packedBytes: (name) => entries.get(name)?.packed.length ?? 0,
    read: (name) => {
      const part = take(name);
      if (part !== undefined) unpacked.set(name, part);
      return part;
    },
    take,
  };
}

function refuseOtherContainers(bytes: Uint8Array, format: string): void {
  const head = Buffer.from(bytes.subarray(0, 8)).toString('hex');
  if (head === 'd0cf11e0a1b11ae1') {
    // A compound file: either the old binary format, or the wrapper around an encrypted package.
    throw isEncryptedOffice(bytes)
      ? passwordMissing(format)
      : fileTypeMismatch(format, 'of the older binary Office format');
  }
}

async function readEntries(bytes: Uint8Array, format: string, maxEntries: number): Promise<ZipEntry[]> {
  try {
    return await readZipDirectory(bytes, maxEntries);
  } catch (cause) {
    if (!(cause instanceof ZipError)) throw cause;
    if (cause.reason === 'too_many_entries') throw unpackedLimit(cause.message);
    throw fileDamaged(format, 'it is cut off or no zip file', cause);
  }
}

function inflate(entry: ZipEntry, bounds: Bounds): Uint8Array {
  const { format } = bounds;
  const part = unpack(entry, bounds);
  if (crc32(part) !== entry.crc) throw fileDamaged(format, `the checksum of ${JSON.stringify(entry.name)} is wrong`);
  return part;
}

/** Unpacking stops at the limit of the ratio, so that a part that is packed too well takes no memory. */
function unpack(entry: ZipEntry, { format, limits, left: remaining }: Bounds): Uint8Array {
  const most = Math.max(limits.ratioFromBytes, entry.packed.length * limits.ratio);
  try {
    return unpackZipEntry(entry, Math.min(remaining, most));
  } catch (cause) {
    if (!(cause instanceof ZipError)) throw cause;
    if (cause.reason === 'too_large') {
      const isRatio = most < remaining;
      throw unpackedLimit(
        isRatio ? `a part is packed more than ${limits.ratio} to 1` : `${limits.unpackedBytes / 2 ** 20} MiB`,
      );
    }
    if (cause.reason === 'unknown_method') throw fileDamaged(format, 'it is packed by an unknown method');
    throw fileDamaged(format, `${JSON.stringify(entry.name)} cannot be unpacked`, cause);
  }
}

const doctypes = ['<!DOCTYPE', '<!ENTITY'].flatMap((word) => [
  Buffer.from(word, 'latin1'),
  Buffer.from(word, 'utf16le'),
  Buffer.from(word, 'utf16le').swap16(),
]);

function refuseDoctype(part: Uint8Array, { format, name }: { format: string; name: string }): void {
  const bytes = Buffer.from(part.buffer, part.byteOffset, part.length);
  if (doctypes.some((word) => bytes.includes(word))) {
    throw fileDamaged(format, `${JSON.stringify(name)} declares a document type, which Office files never do`);
  }
}

/** Bounds of an Office package, whatever its directory claims. The ratio is that of a part of some size. */
export const packageLimits = {
  entries: 10_000,
  unpackedBytes: 500 * 2 ** 20,
  ratio: 300,
  ratioFromBytes: 32 * 2 ** 20,
};
type PackageLimits = typeof packageLimits;
