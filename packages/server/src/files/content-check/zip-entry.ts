import { promisify } from 'node:util';
import { inflateRaw } from 'node:zlib';
import type { CheckedContent } from './checked-content.ts';

const localHeader = 0x04034b50;
const centralHeader = 0x02014b50;
const endRecord = 0x06054b50;
const zip64Locator = 0x07064b50;
const endRecordSize = 22;
const longestComment = 0xffff;
/** Central directories beyond this are not those of a document. */
const largestDirectory = 16 * 1024 * 1024;
/** Limit of the bytes of the directory that are read. Office programs write the relevant entries first. */
const readOfDirectory = 2 * 1024 * 1024;
export const mostEntries = 10_000;

/** Unpacks in the thread pool, because the time depends on the archive. */
const inflate = promisify(inflateRaw);

/** By the first bytes. */
export function isZip(head: Buffer): boolean {
  return head.length >= 4 && (head.readUInt32LE(0) === localHeader || head.readUInt32LE(0) === endRecord);
}

/**
 * One small entry of a ZIP archive, found by the central directory as every office program does. undefined: there is
 * none of that name (letter case aside) among the first 10,000 entries, it unpacks to more than `limit` bytes, or the
 * archive is damaged.
 */
export async function readZipEntry(content: CheckedContent, name: string, limit: number): Promise<Buffer | undefined> {
  const directory = await readDirectory(content);
  if (directory === undefined) return undefined;
  const entry = findEntry(directory.bytes, name);
  if (entry === undefined || entry.packedBytes > limit) return undefined;
  const at = directory.shift + entry.offset;
  const header = await content.read(at, 30);
  if (header.length < 30 || header.readUInt32LE(0) !== localHeader) return undefined;
  const data = await content.read(at + 30 + header.readUInt16LE(26) + header.readUInt16LE(28), entry.packedBytes);
  if (data.length < entry.packedBytes) return undefined;
  if (entry.method === 0) return data;
  if (entry.method !== 8) return undefined;
  try {
    return await inflate(data, { maxOutputLength: limit });
  } catch {
    return undefined;
  }
}

/** `shift`: how far the archive starts behind the beginning of the file, where something stands in front of it. */
async function readDirectory(content: CheckedContent): Promise<{ bytes: Buffer; shift: number } | undefined> {
  const tailLength = Math.min(content.bytes, endRecordSize + longestComment);
  const tailAt = content.bytes - tailLength;
  const tail = await content.read(tailAt, tailLength);
  const end = findEnd(tail);
  if (end === -1) return undefined;
  const size = tail.readUInt32LE(end + 12);
  const offset = tail.readUInt32LE(end + 16);
  const wide = end >= 20 && tail.readUInt32LE(end - 20) === zip64Locator;
  if (wide || size > largestDirectory) return undefined;
  const at = tailAt + end - size;
  if (at < offset) return undefined;
  const bytes = await content.read(at, Math.min(size, readOfDirectory));
  return { bytes, shift: at - offset };
}

function findEnd(tail: Buffer): number {
  for (let at = tail.length - endRecordSize; at >= 0; at -= 1) {
    if (tail.readUInt32LE(at) === endRecord) return at;
  }
  return -1;
}

interface Entry {
  readonly method: number;
  readonly packedBytes: number;
  readonly offset: number;
}

function findEntry(directory: Buffer, name: string): Entry | undefined {
  let at = 0;
  for (let entries = 0; entries < mostEntries && at + 46 <= directory.length; entries += 1) {
    if (directory.readUInt32LE(at) !== centralHeader) return undefined;
    const nameEnd = at + 46 + directory.readUInt16LE(at + 28);
    if (nameEnd - at - 46 === name.length && isNamed(directory.toString('latin1', at + 46, nameEnd), name)) {
      return {
        method: directory.readUInt16LE(at + 10),
        packedBytes: directory.readUInt32LE(at + 20),
        offset: directory.readUInt32LE(at + 42),
      };
    }
    at = nameEnd + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
  }
  return undefined;
}

function isNamed(found: string, name: string): boolean {
  return found.replaceAll('\\', '/').toLowerCase() === name.toLowerCase();
}
