import type { PlacedBlock } from '../document.ts';
import { countTokens } from '../tokens.ts';
import { splitByTokens, type TextPiece } from './token-splitter.ts';

/** A piece of a text. A later piece of a table repeats the header before it. */
export interface StructureCut extends TextPiece {
  readonly header?: string;
}

interface Unit extends TextPiece {
  readonly header?: string;
  readonly headingLevel?: number;
  /** Whether it introduces the list, table or code that follows. */
  readonly introduces?: boolean;
}

/** A table header that takes more than this share of a chunk is not repeated. */
const headerShare = 0.25;
/** A chunk below this share also takes the next section. */
const sectionShare = 0.25;
/** A paragraph above this share does not move to the next chunk with the list that it introduces. */
const introductionShare = 0.25;

/**
 * Cuts a text where its structure allows it: before headings, between paragraphs, items and rows, between sentences. A
 * list, a table or a piece of code that fits stays whole; a heading or an introduction stays with what follows it. No cut
 * is larger than `size` tokens; the header of a table counts.
 */
export function* splitByStructure(
  text: string,
  blocks: Iterable<PlacedBlock>,
  size: number,
): Generator<StructureCut, void> {
  let held: Unit[] = [];
  let tokens = 0;
  for (const unit of units(text, blocks, size)) {
    const begins = unit.headingLevel !== undefined && tokens >= size * sectionShare && !endsWithHeading(held);
    if (held.length > 0 && (begins || tokens + unit.numTokens + 1 > size)) {
      const carried = begins ? [] : trailingLead(held, unit, size);
      yield* toCuts(text, held.slice(0, held.length - carried.length), size);
      held = carried;
      tokens = carried.reduce((sum, other) => sum + other.numTokens + 1, 0);
    }
    if (held.length === 0) tokens = unit.header === undefined ? 0 : countTokens(unit.header) + 1;
    held.push(unit);
    tokens += unit.numTokens + 1;
  }
  yield* toCuts(text, held, size);
}

function endsWithHeading(held: readonly Unit[]): boolean {
  return held.at(-1)?.headingLevel !== undefined;
}

/**
 * Headings and an introduction at the end of the current chunk move to the next chunk, together with the unit that did
 * not fit, if all fit.
 */
function trailingLead(held: readonly Unit[], unit: Unit, size: number): Unit[] {
  const last = held.findLastIndex((other) => other.headingLevel === undefined && other.introduces !== true);
  const carried = held.slice(last + 1);
  const tokens = carried.reduce((sum, other) => sum + other.numTokens + 1, unit.numTokens);
  return last === -1 || tokens > size ? [] : carried;
}

/**
 * Returns one cut. It returns more in the rare case that the units together take more tokens than the sum of their
 * counts.
 */
function* toCuts(text: string, held: readonly Unit[], size: number): Generator<StructureCut> {
  const [first] = held;
  const last = held.at(-1);
  if (first === undefined || last === undefined) return;
  const { header, start } = first;
  const numTokens = countTokens((header === undefined ? '' : `${header}\n`) + text.slice(start, last.end));
  if (numTokens > size && held.length > 1) {
    yield* toCuts(text, held.slice(0, -1), size);
    yield* toCuts(text, held.slice(-1), size);
  } else yield { start, end: last.end, numTokens, ...(header === undefined ? {} : { header }) };
}

/** Splits blocks into pieces that each fit, in order. */
function* units(text: string, blocks: Iterable<PlacedBlock>, size: number): Generator<Unit> {
  const parts = [...partsOf(blocks)];
  for (const [index, part] of parts.entries()) {
    const whole = part.length > 1 ? wholeList(text, part, size) : undefined;
    if (whole !== undefined) {
      yield whole;
      continue;
    }
    const introduces = isIntroduced(parts[index + 1]?.[0]);
    for (const block of part) {
      for (const unit of unitsOf(text, block, size)) {
        yield introduces && isIntroduction(text, { block, unit, size }) ? { ...unit, introduces } : unit;
      }
    }
  }
}

/** Items of a list that follow each other are one part; every other block is a part of its own. */
function* partsOf(blocks: Iterable<PlacedBlock>): Generator<readonly PlacedBlock[]> {
  let items: PlacedBlock[] = [];
  for (const block of blocks) {
    if (block.kind === 'list_item') {
      items.push(block);
      continue;
    }
    if (items.length > 0) yield items;
    items = [];
    yield [block];
  }
  if (items.length > 0) yield items;
}

/** @returns undefined when the list does not fit; it is then cut between its items */
function wholeList(text: string, items: readonly PlacedBlock[], size: number): Unit | undefined {
  const [first] = items;
  const last = items.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const whole = trimmed(text, withoutIndent(text, { start: first.start, end: last.end }));
  if (whole === null) return undefined;
  const numTokens = countTokensWithin(text, whole, size);
  return numTokens <= size ? { ...whole, numTokens } : undefined;
}

function isIntroduced(block: PlacedBlock | undefined): boolean {
  return block?.kind === 'list_item' || block?.kind === 'table' || block?.kind === 'code';
}

/** Whether the unit is the end of a paragraph that ends in a colon. */
function isIntroduction(
  text: string,
  { block, unit, size }: { readonly block: PlacedBlock; readonly unit: Unit; readonly size: number },
): boolean {
  const isShort = block.kind === 'paragraph' && unit.numTokens <= size * introductionShare;
  return isShort && /[:：]$/.test(text.slice(unit.end - 1, unit.end)) && text.slice(unit.end, block.end).trim() === '';
}

function* unitsOf(text: string, block: PlacedBlock, size: number): Generator<Unit> {
  if (block.kind === 'heading') {
    for (const unit of fitting(text, block, size)) yield { ...unit, headingLevel: block.level ?? 1 };
  } else if (block.kind === 'table') yield* rows(text, block, size);
  else if (block.kind === 'code') yield* grouped(text, pieces(text, block, /\n+/g), size);
  else for (const piece of pieces(text, withoutIndent(text, block), /\n\s*\n\s*/g)) yield* sentences(text, piece, size);
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

function* rows(text: string, block: PlacedBlock, size: number): Generator<Unit> {
  const whole = { start: block.start, end: block.end };
  const numTokens = countTokensWithin(text, whole, size);
  if (numTokens <= size) {
    yield { ...whole, numTokens };
    return;
  }
  const lines = [...pieces(text, block, /\n/g)];
  const first = lines[0];
  const last = lines[Math.min(block.headerRows ?? 1, lines.length) - 1];
  const header = first === undefined || last === undefined ? '' : text.slice(first.start, last.end);
  const headerTokens = countTokensWithin(header, { start: 0, end: header.length }, size);
  const repeats = headerTokens > 0 && headerTokens <= size * headerShare;
  const available = repeats ? size - headerTokens - 1 : size;
  for (const unit of grouped(text, lines, available)) {
    yield repeats && unit.start >= (last?.end ?? 0) ? { ...unit, header } : unit;
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
