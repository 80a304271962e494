import { createHash, hash } from 'node:crypto';
import type { S3Body } from './s3-client.ts';

const blockBytes = 256 * 1024;

/** Hashes a part of staged bytes. They are read once for the hashes and again for each attempt to send them. */
export async function bodyOfStaged(
  read: (position: number, length: number) => Promise<Buffer>,
  start: number,
  bytes: number,
): Promise<S3Body> {
  async function* open(): AsyncGenerator<Buffer> {
    for (let at = 0; at < bytes; ) {
      const block = await read(start + at, Math.min(blockBytes, bytes - at));
      if (block.length === 0) throw new Error('The staged bytes are not complete.');
      at += block.length;
      yield block;
    }
  }
  const [sha256, md5] = [createHash('sha256'), createHash('md5')];
  for await (const block of open()) {
    sha256.update(block);
    md5.update(block);
  }
  return { bytes, sha256: sha256.digest('hex'), md5: md5.digest('base64'), open };
}

export function bodyOfText(text: string): S3Body {
  const content = Buffer.from(text);
  return {
    bytes: content.length,
    sha256: hash('sha256', content),
    md5: hash('md5', content, 'base64'),
    open: async function* () {
      yield content;
    },
  };
}
