import type { PlacedBlock } from '../document.ts';
import { countTokens } from '../tokens.ts';
import { type Unit, unitsOf, wholeOf } from './block-units.ts';
import { followHeads, type Section, sectionsOf } from './page-context.ts';
import type { TextPiece } from './token-splitter.ts';

/** A piece of a text. A later piece of a table or a form repeats the lines before it that say what it is about. */
export interface StructureCut extends TextPiece {
  readonly header?: string;
}

/** Headings up to this share of a chunk are in one chunk with the beginning of what follows. */
const leadShare = 0.5;
/** A chunk below this share also takes the next section. */
const sectionShare = 0.25;
/** A paragraph above this share does not move to the next chunk with the list that it introduces. */
const introductionShare = 0.25;

/**
 * Cuts a text where its structure allows it: before headings, between paragraphs, items and rows, between sentences. A
 * list, a table or a piece of code that fits stays whole; a heading or an introduction stays with what follows it. No cut
 * is larger than `size` tokens, except a whole form of at most `formSize`; repeated lines count.
 */
export function* splitByStructure(
  text: string,
  blocks: Iterable<PlacedBlock>,
  size: number,
  formSize = size,
): Generator<StructureCut, void> {
  let held: Unit[] = [];
  let tokens = 0;
  for (const unit of units(text, blocks, { size, formSize })) {
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
function* units(
  text: string,
  blocks: Iterable<PlacedBlock>,
  { size, formSize }: { readonly size: number; readonly formSize: number },
): Generator<Unit> {
  const headOf = followHeads(text);
  for (const section of sectionsOf(text, blocks)) {
    const form = section.isForm ? wholeOf(text, section.blocks, formSize) : undefined;
    if (form === undefined) yield* unitsOfSection(text, section, { size, headOf });
    else {
      yield form;
      section.blocks.forEach(headOf);
    }
  }
}

interface SectionOptions {
  readonly size: number;
  readonly headOf: (block: PlacedBlock) => string;
}

function* unitsOfSection(text: string, { blocks, isForm }: Section, { size, headOf }: SectionOptions): Generator<Unit> {
  const parts = [...partsOf(blocks)];
  /** The tokens of the headings directly before a part, with which its beginning shares a chunk. */
  let lead = 0;
  for (const [index, part] of parts.entries()) {
    const heads = part.map(headOf);
    const room = lead <= size * leadShare ? size - lead : size;
    if (part[0]?.kind !== 'heading') lead = 0;
    const whole = part.length > 1 ? wholeOf(text, part, room) : undefined;
    if (whole !== undefined) {
      yield whole;
      continue;
    }
    const introduces = isIntroduced(parts[index + 1]?.[0]);
    for (const [at, block] of part.entries()) {
      const head = isForm || block.kind === 'table' ? heads[at] : undefined;
      for (const unit of unitsOf(text, block, { size: room, head: head ?? '' })) {
        if (unit.headingLevel !== undefined) lead += unit.numTokens + 1;
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
