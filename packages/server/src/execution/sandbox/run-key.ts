import { randomFillSync } from 'node:crypto';

const keyBytes = 16;
/** Random bytes are drawn in blocks: one call for 256 keys instead of one for each. */
const block = Buffer.alloc(256 * keyBytes);
let used = block.length;

/** Names a run between host and child: 128 random bits, so that no handler can speak in the name of another run. */
export function newRunKey(): string {
  if (used === block.length) {
    randomFillSync(block);
    used = 0;
  }
  used += keyBytes;
  return block.toString('base64url', used - keyBytes, used);
}
