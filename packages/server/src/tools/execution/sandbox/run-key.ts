import { randomFillSync } from 'node:crypto';

const keyBytes = 16;
/** Random bytes are drawn in blocks: one call gives 256 keys. */
const block = Buffer.alloc(256 * keyBytes);
let used = block.length;

/** Returns a key that names a run between host and child: 128 random bits, so that a handler cannot guess the key of another run. */
export function newRunKey(): string {
  if (used === block.length) {
    randomFillSync(block);
    used = 0;
  }
  used += keyBytes;
  return block.toString('base64url', used - keyBytes, used);
}
