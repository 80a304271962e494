import { Parser } from 'htmlparser2';
import type { ExpressionBudget } from './expression-budget.ts';

/** Counts code points without building a list of them. */
export function countCodePoints(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1) count += 1;
  return count;
}

/** Compares texts by code points. Returns -1 for equal texts, so that a sort keeps the order of the library. */
export function compareTexts(left: string, right: string, budget: ExpressionBudget): 1 | -1 {
  const shorter = Math.min(left.length, right.length);
  budget.spend(1);
  let at = 0;
  while (at < shorter && left[at] === right[at]) at += 1;
  budget.spendCharacters(at);
  // Steps back to the start of a character that differs only in its low surrogate.
  if (at > 0 && isLowSurrogate(left.charCodeAt(at)) && isHighSurrogate(left.charCodeAt(at - 1))) at -= 1;
  const [a, b] = [left.codePointAt(at), right.codePointAt(at)];
  if (a !== undefined && b !== undefined && a !== b) return a > b ? 1 : -1;
  return left.length > right.length ? 1 : -1;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}

const blank = /[\s\u0085]/;

/** Removes these characters (by default blanks) from the requested ends. Visits each character once. */
export function trimText(
  text: string,
  characters: string | undefined,
  ends: { left: boolean; right: boolean },
): string {
  const listed = new Set(characters === undefined ? [] : characters.split(''));
  const isCut = (at: number) => (listed.size > 0 ? listed.has(text[at] ?? '') : blank.test(text[at] ?? ''));
  let start = 0;
  let end = text.length;
  if (ends.right) while (end > start && isCut(end - 1)) end -= 1;
  if (ends.left) while (start < end && isCut(start)) start += 1;
  return text.slice(start, end);
}

/** What may be a tag, without a bracket inside, so that the search is linear. */
const bracketed = /<([^<>]*)>/g;
/** Elements that begin on a line of their own. */
const blocks: ReadonlySet<string> = new Set(
  'blockquote br div dd dl dt h1 h2 h3 h4 h5 h6 hr li ol p pre table tr ul'.split(' '),
);

/** The text of a piece of HTML: without tags, with characters in place of entities, and with a line for each block. */
export function htmlText(html: string): string {
  const untagged = html.replaceAll(bracketed, (whole, inner: string) => {
    const name = /^\/?([a-z][a-z0-9]{0,63})(?![a-z0-9])/i.exec(inner)?.[1]?.toLowerCase();
    if (name === undefined) return inner.startsWith('!') ? '' : whole;
    return blocks.has(name) ? '\n' : '';
  });
  let text = '';
  const parser = new Parser({ ontext: (piece) => (text += piece) });
  parser.end(untagged.replaceAll('<', '&lt;'));
  return text.replaceAll(/\n{3,}/g, '\n\n').trim();
}
