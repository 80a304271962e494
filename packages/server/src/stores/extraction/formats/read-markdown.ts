import { lexer, parser } from 'marked';
import type { Block, Document } from '../document.ts';
import { decodeText } from '../encoding/decode-text.ts';
import { createHtmlBlocks } from './html/html-blocks.ts';

const frontMatterLimit = 4000;

/** Converts each top-level part to HTML and reads it separately, so that an unclosed tag affects only its own part. */
export function readMarkdown(bytes: Uint8Array, charset?: string): Document {
  const { text, facts: encoding, warnings } = decodeText(bytes, [charset]);
  const { frontMatter, body } = separateFrontMatter(text);
  const facts = frontMatter === '' ? encoding : { ...encoding, front_matter: frontMatter.slice(0, frontMatterLimit) };
  try {
    return { blocks: readBlocks(body), facts, warnings };
  } catch (cause) {
    // The parser calls itself for each level of quotes, lists and brackets, until the stack is full.
    if (!(cause instanceof RangeError)) throw cause;
    const warning = 'nested_too_deep: The Markdown is nested too deeply. It was read as plain text.';
    return { blocks: [{ kind: 'paragraph', text: body }], facts, warnings: [...warnings, warning] };
  }
}

function readBlocks(body: string): Block[] {
  const tokens = lexer(body);
  const blocks: Block[] = [];
  for (const token of tokens) {
    if (token.type === 'space' || token.type === 'def') continue;
    const reader = createHtmlBlocks();
    reader.write(parser([token]));
    // Appends one by one, because a list may have more items than a call may have arguments.
    for (const block of reader.end().blocks) blocks.push(block);
  }
  return blocks;
}

/** YAML between `---` at the very start and the next line of `---` or `...`. A lone rule there is no front matter. */
function separateFrontMatter(text: string): { frontMatter: string; body: string } {
  const nothing = { frontMatter: '', body: text };
  if (!text.startsWith('---\n')) return nothing;
  const closing = /^(?:---|\.\.\.)[ \t]*$/m;
  closing.lastIndex = 0;
  const rest = text.slice(4);
  const match = closing.exec(rest);
  if (match === null) return nothing;
  const frontMatter = rest.slice(0, match.index).trim();
  if (frontMatter !== '' && !/^[\w-]+[ \t]*:/m.test(frontMatter)) return nothing;
  return { frontMatter, body: rest.slice(match.index + match[0].length) };
}
