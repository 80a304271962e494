import type { Block } from '../document.ts';

const boxes: Readonly<Record<string, string>> = { '☐': '[ ]', '☑': '[x]', '☒': '[x]' };

/** Writes check box characters as `[x]` and `[ ]`, like the fields of forms. */
export function withCheckBoxes<Read extends { readonly blocks: readonly Block[] }>(document: Read): Read {
  const written = (block: Block): Block =>
    /[☐☑☒]/.test(block.text)
      ? { ...block, text: apart(block.text).replace(/[☐☑☒]/g, (box) => boxes[box] ?? box) }
      : block;
  return { ...document, blocks: document.blocks.map(written) };
}

/** A box is a word of its own. */
function apart(text: string): string {
  return text.replace(/(?<=[\p{L}\p{N}☐☑☒])(?=[☐☑☒])|(?<=[☐☑☒])(?=\S)/gu, ' ');
}
