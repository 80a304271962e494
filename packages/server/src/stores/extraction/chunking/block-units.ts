import type { PlacedBlock } from '../document.ts';
import { countTokens } from '../tokens.ts';
import { splitByTokens, type TextPiece } from './token-splitter.ts';

/** A piece of a block that is never cut. */
export interface Unit extends TextPiece {
  readonly header?: string;
  readonly headingLevel?: number;
  /** Whether it introduces the list, table or code that follows. */
  readonly introduces?: boolean;
}

/** A header that takes more than this share of a chunk is not repeated. */
const headerShare = 0.25;

/** @returns undefined when the list or form does not fit; it is then cut between its items */
export function wholeOf(text: string, items: readonly PlacedBlock[], size: number): Unit | undefined {
  const [first] = items;
  const last = items.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const whole = trimmed(text, withoutIndent(text, { start: first.start, end: last.end }));
  if (whole === null) return undefined;
  const numTokens = countTokensWithin(text, whole, size);
  return numTokens <= size ? { ...whole, numTokens } : undefined;
}

interface BlockOptions {
  readonly size: number;
  /** What a piece repeats that begins a chunk. */
  readonly head: string;
}

/** Divides one block into pieces that each fit. */
export function* unitsOf(text: string, block: PlacedBlock, { size, head }: BlockOptions): Generator<Unit> {
  if (block.kind === 'heading') {
    for (const unit of fitting(text, block, size)) yield { ...unit, headingLevel: block.level ?? 1 };
  } else if (block.kind === 'table') yield* rows(text, block, { size, head });
  else if (block.kind === 'code') yield* grouped(text, pieces(text, block, /\n+/g), size);
  else {
    const { available, header } = roomBelow(head, size);
    for (const piece of pieces(text, withoutIndent(text, block), /\n\s*\n\s*/g))
      for (const unit of sentences(text, piece, available)) yield header === '' ? unit : { ...unit, header };
  }
}

/** Returns the part of a chunk that the header leaves. A header that is too long is left out. */
function roomBelow(header: string, size: number): { readonly available: number; readonly header: string } {
  const tokens = header === '' ? 0 : countTokensWithin(header, { start: 0, end: header.length }, size);
  const isShort = tokens > 0 && tokens <= size * headerShare;
  return isShort ? { available: size - tokens - 1, header } : { available: size, header: '' };
}

interface Span {
  readonly start: number;
  readonly end: number;
}

function* sentences(text: string, span: Span, size: number): Generator<Unit> {
  const whole = trimmed(text, span);
  if (whole === null) return;
  const numTokens = countTokensWithin(text, whole, size);
  if (numTokens <= size) yield { ...whole, numTokens };
  else yield* grouped(text, sentencesOf(text, whole), size);
}

/** Counts tokens up to the size. A very long text exceeds the size without being counted. */
function countTokensWithin(text: string, { start, end }: Span, size: number): number {
  return end - start > size * longestToken ? Number.POSITIVE_INFINITY : countTokens(text.slice(start, end));
}
const longestToken = 128;

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });
/** The number of characters that are split into sentences at a time. */
const portion = 50_000;

function* sentencesOf(text: string, { start, end }: Span): Generator<Span> {
  for (let at = start; at < end; ) {
    const isLast = end - at <= portion;
    const spans = [...segmenter.segment(text.slice(at, isLast ? end : at + portion))].map(({ index, segment }) => ({
      start: at + index,
      end: at + index + segment.length,
    }));
    // The last sentence of a portion may continue in the next one.
    if (!isLast && spans.length > 1) spans.pop();
    yield* spans;
    at = spans.at(-1)?.end ?? end;
  }
}

/** Groups as many neighbours as fit. A span that does not fit alone is split by tokens. */
function* grouped(text: string, spans: Iterable<Span>, size: number): Generator<Unit> {
  let held: Unit[] = [];
  let tokens = 0;
  for (const span of spans) {
    for (const unit of fitting(text, span, size)) {
      if (tokens + unit.numTokens > size) {
        yield* together(text, held, size);
        held = [];
        tokens = 0;
      }
      held.push(unit);
      tokens += unit.numTokens + 1;
    }
  }
  yield* together(text, held, size);
}

/** Counts the tokens again, because the text between the units counts too. */
function* together(text: string, units: readonly Unit[], size: number): Generator<Unit> {
  const first = units[0];
  const last = units.at(-1);
  if (first === undefined || last === undefined) return;
  const numTokens = countTokens(text.slice(first.start, last.end));
  if (numTokens > size) yield* units;
  else yield { start: first.start, end: last.end, numTokens };
}

function* fitting(text: string, span: Span, size: number): Generator<Unit> {
  const whole = trimmed(text, span);
  if (whole === null) return;
  const numTokens = countTokensWithin(text, whole, size);
  if (numTokens <= size) {
    yield { ...whole, numTokens };
    return;
  }
  for (const cut of splitByTokens(text.slice(whole.start, whole.end), { size, overlap: 0 })) {
    yield { ...cut, start: cut.start + whole.start, end: cut.end + whole.start };
  }
}

function* rows(text: string, block: PlacedBlock, { size, head }: BlockOptions): Generator<Unit> {
  const lines = [...pieces(text, block, /\n/g)];
  const first = lines[0];
  const last = lines[Math.min(block.headerRows ?? 1, lines.length) - 1];
  const names = first === undefined || last === undefined ? '' : text.slice(first.start, last.end);
  const ofPage = block.page === undefined ? roomBelow('', size) : roomBelow(head, size);
  const whole = { start: block.start, end: block.end };
  const numTokens = countTokensWithin(text, whole, size);
  if (numTokens <= ofPage.available) {
    yield { ...whole, numTokens, ...(ofPage.header === '' ? {} : { header: ofPage.header }) };
    return;
  }
  const withHead = roomBelow([head, names].filter((each) => each !== '').join('\n'), size);
  const repeated = withHead.header === '' ? roomBelow(names, size) : withHead;
  for (const unit of grouped(text, lines, Math.min(repeated.available, ofPage.available))) {
    const { header } = unit.start >= (last?.end ?? 0) ? repeated : ofPage;
    yield header === '' ? unit : { ...unit, header };
  }
}

function* pieces(text: string, { start, end }: Span, separator: RegExp): Generator<Span> {
  let from = start;
  for (const match of text.slice(start, end).matchAll(separator)) {
    yield { start: from, end: start + match.index };
    from = start + match.index + match[0].length;
  }
  yield { start: from, end };
}

function withoutIndent(text: string, { start, end }: Span): Span {
  const indent = /^\s*/.exec(text.slice(start, end))?.[0].length ?? 0;
  return { start: start + indent, end };
}

/** Leading indentation is kept, because it can be part of code. */
function trimmed(text: string, { start, end }: Span): Span | null {
  const slice = text.slice(start, end);
  const content = slice.trimEnd();
  if (content.trim() === '') return null;
  const lead = /^\s*\n/.exec(content)?.[0].length ?? 0;
  return { start: start + lead, end: start + content.length };
}
