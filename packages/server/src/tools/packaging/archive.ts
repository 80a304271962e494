import { crc32 } from 'node:zlib';
import { type Zippable, zipSync } from 'fflate';
import { readZipDirectory, unpackZipEntry, type ZipEntry, ZipError } from '../../platform/zip.ts';
import {
  archiveId,
  bundleLimits,
  type Contents,
  describePathError,
  listFile,
  readContents,
  sha256,
} from './contents.ts';
import { archiveRefused } from './problems.ts';
import { isPublicKeyText, isSignedBy, type Signature } from './signatures.ts';

/** A bundle from its archive. Every file matches `contents.json`, and a signature, if there is one, is valid. */
export interface OpenedArchive {
  /** `weather@1.2.0+sha256.<digest>` */
  readonly id: string;
  readonly digest: string;
  readonly contents: Contents;
  /** The bytes that were hashed and signed. */
  readonly contentsBytes: Buffer;
  readonly signature: Signature | null;
  /** The files by path. */
  readonly files: ReadonlyMap<string, Buffer>;
}

const contentsName = 'contents.json';
const signatureName = 'signature.json';
const filesFolder = 'bundle/';

/** A constant time for all entries. ZIP has no time zones, so the bytes are the same everywhere. */
const never = new Date(1980, 0, 1);

export interface ArchiveParts {
  readonly contentsBytes: Buffer;
  readonly signature: Signature | null;
  readonly files: ReadonlyMap<string, Buffer>;
}

/** Writes an archive. The same parts give the same bytes. */
export function writeArchive({ contentsBytes, signature, files }: ArchiveParts): Buffer {
  const entries: Zippable = { [contentsName]: contentsBytes };
  if (signature !== null) entries[signatureName] = Buffer.from(`${JSON.stringify(signature)}\n`);
  for (const path of [...files.keys()].sort()) entries[filesFolder + path] = files.get(path) ?? Buffer.alloc(0);
  return Buffer.from(zipSync(entries, { level: 9, mtime: never, os: 3, attrs: 0o100644 << 16 }));
}

/**
 * Opens an untrusted archive. All sizes are bounded before anything is unpacked, and nothing is written to disk.
 * @throws PackagingError
 */
export async function openArchive(bytes: Uint8Array): Promise<OpenedArchive> {
  if (bytes.length > bundleLimits.archiveBytes)
    throw archiveRefused(`it must be at most ${bundleLimits.archiveBytes} bytes`);
  const packed = new Map((await readEntries(bytes)).map((entry) => [entry.name, entry]));
  const take = createEntryReader();
  const contentsBytes = take(packed.get(contentsName), contentsName);
  const contents = readContents(contentsBytes);
  const digest = sha256(contentsBytes);
  const files = new Map<string, Buffer>();
  for (const { path } of contents.files) files.set(path, take(packed.get(filesFolder + path), path));
  const signature = packed.has(signatureName) ? readSignature(take(packed.get(signatureName), signatureName)) : null;
  const known = new Set([contentsName, signatureName, ...contents.files.map(({ path }) => filesFolder + path)]);
  const extra = [...packed.keys()].find((name) => !known.has(name));
  if (extra !== undefined)
    throw archiveRefused(`it contains ${JSON.stringify(extra)}, which contents.json does not list`);
  checkFiles(contents, files);
  if (signature !== null && !isSignedBy(contentsBytes, signature))
    throw archiveRefused('its signature does not match its content');
  return { id: archiveId(contents, digest), digest, contents, contentsBytes, signature, files };
}

async function readEntries(bytes: Uint8Array): Promise<ZipEntry[]> {
  let entries: ZipEntry[];
  try {
    entries = await readZipDirectory(bytes, bundleLimits.files + 2);
  } catch (cause) {
    throw archiveRefused(`it must be a complete ZIP file with at most ${bundleLimits.files + 2} entries`, cause);
  }
  const seen = new Set<string>();
  for (const { name, encrypted, isLink } of entries) {
    const reason = describePathError(name.startsWith(filesFolder) ? name.slice(filesFolder.length) : name);
    if (reason !== null) throw archiveRefused(`${JSON.stringify(name)} is ${reason}`);
    if (isLink) throw archiveRefused(`${JSON.stringify(name)} is a symbolic link`);
    if (encrypted) throw archiveRefused('it must not be encrypted');
    if (seen.has(name.toLowerCase())) throw archiveRefused(`${JSON.stringify(name)} occurs twice`);
    seen.add(name.toLowerCase());
  }
  return entries;
}

/** Unpacks entries within the remaining bounds. */
function createEntryReader(): (entry: ZipEntry | undefined, name: string) => Buffer {
  let remaining: number = bundleLimits.bytes;
  return (entry, name) => {
    if (entry === undefined) throw archiveRefused(`${name} is missing`);
    const limit = Math.min(remaining, bundleLimits.fileBytes);
    const content = unpack(entry, limit);
    if (crc32(content) !== entry.crc) throw archiveRefused(`the checksum of ${name} is wrong`);
    remaining -= content.length;
    return content;
  };
}

function unpack(entry: ZipEntry, limit: number): Buffer {
  try {
    return Buffer.from(unpackZipEntry(entry, limit));
  } catch (cause) {
    if (!(cause instanceof ZipError)) throw cause;
    throw archiveRefused(explainUnpacking(entry.name, cause), cause);
  }
}

function explainUnpacking(name: string, { reason }: ZipError): string {
  if (reason === 'unknown_method') return `${name} is compressed by an unknown method`;
  if (reason !== 'too_large') return `the compressed data of ${name} is damaged`;
  return `unpacked files must have at most ${bundleLimits.fileBytes} bytes each and ${bundleLimits.bytes} bytes in total`;
}

function readSignature(bytes: Buffer): Signature {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw archiveRefused('signature.json is not valid JSON', cause);
  }
  const { algorithm, public_key, signature } = Object(value);
  if (algorithm !== 'ed25519' || !isPublicKeyText(public_key) || typeof signature !== 'string') {
    throw archiveRefused('signature.json must hold an ed25519 signature');
  }
  return { algorithm, public_key, signature };
}

function checkFiles({ files: listed }: Contents, files: ReadonlyMap<string, Buffer>): void {
  for (const file of listed) {
    const { bytes, sha256: digest } = listFile(file.path, files.get(file.path) ?? Buffer.alloc(0));
    if (bytes !== file.bytes || digest !== file.sha256)
      throw archiveRefused(`${file.path} does not match its size and SHA-256 in contents.json`);
  }
}
