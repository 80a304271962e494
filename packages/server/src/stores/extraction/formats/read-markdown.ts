import { Marked, type Tokens } from 'marked';
import type { Block, Document } from '../document.ts';
import { decodeText } from '../encoding/decode-text.ts';
import { createHtmlBlocks } from './html/html-blocks.ts';

const frontMatterLimit = 4000;

/** Converts each top-level part to HTML and reads it separately, so that an unclosed tag affects only its own part. */
export function readMarkdown(bytes: Uint8Array, charset?: string): Document {
  const { text, facts: encoding, warnings } = decodeText(bytes, [charset]);
  const { frontMatter, body } = separateFrontMatter(text);
  const facts = frontMatter === '' ? encoding : { ...encoding, front_matter: frontMatter.slice(0, frontMatterLimit) };
  const asText = (reason: string): Document => {
    const warning = `nested_too_deep: The Markdown ${reason}. It was read as plain text.`;
    return { blocks: [{ kind: 'paragraph', text: body }], facts, warnings: [...warnings, warning] };
  };
  if (emphasisSteps(body) > mostEmphasisSteps) return asText('has too many asterisks and underscores in a paragraph');
  try {
    return { blocks: readBlocks(body), facts, warnings };
  } catch (cause) {
    // The parser calls itself for each level of quotes, lists and brackets, until the stack is full.
    if (!(cause instanceof RangeError)) throw cause;
    return asText('is nested too deeply');
  }
}

/** About 2 s of processor time. */
const mostEmphasisSteps = 1e8;

/**
 * Estimates the steps of the parser for emphasis: in each paragraph, it compares each run of asterisks or underscores with all
 * others. Each cell of a table is a text of its own, so its rows do not count.
 */
function emphasisSteps(body: string): number {
  let steps = 0;
  let runs = 0;
  for (const line of body.split('\n')) {
    if (line.trim() === '') {
      steps += runs ** 2;
      runs = 0;
    } else if (!line.startsWith('|')) {
      runs += line.match(/[*_]+/g)?.length ?? 0;
    }
  }
  return steps + runs ** 2;
}

const footnote = /^ {0,3}\[\^[^\]\s]{1,200}\]:/;
/** Lines that begin something else than the text of a paragraph. */
const otherLine = /^\s*$|^ {0,3}(?:\[\^|#|>|```|~~~|[-*+] |\d{1,9}[.)] )/;
/** The characters of a paragraph in which a footnote without a blank line before it is found. The parser asks for each paragraph. */
const nearby = 4_000;

/** GFM: `[^` begins a footnote. The parser would take an address or a word in it for the target of a link, which is not shown. */
const marked = new Marked({
  extensions: [
    {
      name: 'footnote',
      level: 'block',
      start: (source) => /^ {0,3}\[\^/m.exec(source.slice(0, nearby))?.index,
      tokenizer(source): Tokens.Paragraph | undefined {
        if (!footnote.test(source)) return undefined;
        let end = lineEnd(source, 0);
        while (end < source.length && !otherLine.test(source.slice(end, lineEnd(source, end))))
          end = lineEnd(source, end);
        const raw = source.slice(0, end).trimEnd();
        return { type: 'paragraph', raw, text: raw, tokens: this.lexer.inline(raw) };
      },
    },
  ],
});

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end + 1;
}

function readBlocks(body: string): Block[] {
  const tokens = marked.lexer(body);
  const blocks: Block[] = [];
  for (const token of tokens) {
    if (token.type === 'space' || token.type === 'def') continue;
    const reader = createHtmlBlocks();
    reader.write(marked.parser([token]));
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
