import { createHash, hash } from 'node:crypto';
import type { S3Body } from './s3-client.ts';

const blockBytes = 256 * 1024;

type Read = (position: number, length: number, buffer?: Buffer) => Promise<Buffer>;

export interface StagedRange {
  readonly start: number;
  readonly bytes: number;
  /** Hexadecimal, where it is known. */
  readonly sha256?: string;
}

/**
 * Hashes a range of staged bytes. A large range is read once for the hashes and again for each attempt to send it, each time through
 * one buffer of 256 KiB.
 */
export async function bodyOfStaged(read: Read, { start, bytes, sha256 }: StagedRange): Promise<S3Body> {
  const readWhole: Read = async (position, length, buffer) => {
    const found = await read(position, length, buffer);
    if (found.length !== length) throw new Error('The staged bytes are not complete.');
    return found;
  };
  if (bytes <= blockBytes) return bodyOf(await readWhole(start, bytes), sha256);
  async function* open(): AsyncGenerator<Buffer> {
    const buffer = Buffer.allocUnsafeSlow(blockBytes);
    for (let at = 0; at < bytes; at += blockBytes)
      yield await readWhole(start + at, Math.min(blockBytes, bytes - at), buffer);
  }
  const [ownSha256, md5] = [sha256 === undefined ? createHash('sha256') : undefined, createHash('md5')];
  for await (const block of open()) {
    ownSha256?.update(block);
    md5.update(block);
  }
  return { bytes, sha256: ownSha256?.digest('hex') ?? sha256 ?? '', md5: md5.digest('base64'), open };
}

export const bodyOfText = (text: string): S3Body => bodyOf(Buffer.from(text));

function bodyOf(content: Buffer, sha256 = hash('sha256', content)): S3Body {
  return { bytes: content.length, sha256, md5: hash('md5', content, 'base64'), open: () => content };
}
