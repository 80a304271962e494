import type { Document } from '../document.ts';
import { decodeText } from '../encoding/decode-text.ts';

/** Returns the whole text as one block, so that offsets of its chunks are offsets of the text. */
export function readText(bytes: Uint8Array, charset?: string): Document {
  const { text, facts, warnings } = decodeText(bytes, [charset]);
  return { blocks: [{ kind: 'paragraph', text }], facts, warnings };
}
