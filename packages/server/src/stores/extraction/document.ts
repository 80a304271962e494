import type { Locator } from '@quartermaster/contract';
import { cutName, cutPath, placeLimits, warnOfCutNames } from './cut-text.ts';
import type { ExtractionReport } from './extraction.ts';
import { boxesBetween, type PlacedWord, placeWords, type ScannedWord, toScanBox } from './ocr/place-words.ts';
import type { ScanBox } from './page-protocol.ts';

/** The result of every reader of a text format: blocks in reading order. */
export interface Document {
  readonly blocks: readonly Block[];
  /** The facts for the report, as far as the reader knows them. */
  readonly facts: Pick<
    ExtractionReport,
    | 'encoding'
    | 'encoding_confidence'
    | 'replaced'
    | 'title'
    | 'pages'
    | 'pages_without_text'
    | 'form_fields'
    | 'notes'
    | 'ocr'
    | 'dropped'
    | 'front_matter'
    | 'attachments'
    | 'parser'
  >;
  readonly warnings: readonly string[];
}

export type BlockKind = 'heading' | 'paragraph' | 'list_item' | 'table' | 'code';

export interface Block {
  readonly kind: BlockKind;
  /** Rows of a table are lines, its cells are separated by ` | `. */
  readonly text: string;
  /** The level of a heading: 1 (outermost) to 6. */
  readonly level?: number;
  /** For a table, the number of leading rows that name the columns. */
  readonly headerRows?: number;
  /** From 1. */
  readonly page?: number;
  /** The words that OCR has read, in the order of the text. Their line numbers are unique within the block. */
  readonly words?: readonly ScannedWord[];
  /** The name of the sheet of a workbook. */
  readonly sheet?: string;
  /** Whether the block continues the sentence of the previous block across a page break. */
  readonly joins?: boolean;
}

/** A block with its character range in the text. */
export interface PlacedBlock {
  readonly kind: BlockKind;
  readonly level?: number;
  readonly headerRows?: number;
  readonly page?: number | undefined;
  readonly start: number;
  readonly end: number;
}

export interface LaidOutText {
  readonly text: string;
  readonly blocks: readonly PlacedBlock[];
  /** The warning about headings and names of sheets that are too long for a locator. */
  readonly warnings: readonly string[];
  /** Returns the origin of the characters from `start` to before `end`. */
  locate(start: number, end: number): Locator;
  /** Returns where the characters from `start` to before `end` are on scanned pages: one box for each line. */
  boxesOf(start: number, end: number): ScanBox[];
}

interface Place extends PlacedBlock {
  readonly sheet: string | undefined;
  readonly headings: readonly string[];
  readonly words: readonly PlacedWord[];
}

/**
 * Joins the blocks to one text and records the origin of each. An empty line separates blocks, except items of a list.
 */
export function layOut(document: Document): LaidOutText {
  const parts: string[] = [];
  const places: Place[] = [];
  let length = 0;
  let headings: readonly Heading[] = [];
  let path: readonly string[] = [];
  const cutNames = new Set<string>();
  const nameOf = (text: string) => {
    const name = cutName(text);
    if (name !== text) cutNames.add(name);
    return name;
  };
  let previous: Block | undefined;
  for (const block of document.blocks) {
    const text = storable(block.text);
    if (text.trim() === '') continue;
    if (previous !== undefined) {
      const gap = gapBetween(previous, block);
      parts.push(gap);
      length += gap.length;
    }
    if (block.kind === 'heading') {
      headings = below(headings, { level: block.level ?? 1, text: nameOf(text.trim()) });
      const names = headings.map((heading) => heading.text);
      path = cutPath(names);
      for (const name of names) if (!path.includes(name)) cutNames.add(name);
    }
    const { kind, level, headerRows, page, sheet, words } = block;
    places.push({
      kind,
      ...(level === undefined ? {} : { level }),
      ...(headerRows === undefined ? {} : { headerRows }),
      start: length,
      end: length + text.length,
      page,
      sheet: sheet === undefined ? undefined : nameOf(storable(sheet)),
      headings: path,
      words: words === undefined ? [] : placeWords(text, words),
    });
    parts.push(text);
    length += text.length;
    previous = block;
  }
  return {
    text: parts.join(''),
    blocks: places,
    warnings: warnOfCutNames(cutNames.size, 'headings or sheet names'),
    locate: (start, end) => locate(places, start, end),
    boxesOf: (start, end) => boxesOf(places, start, end),
  };
}

function gapBetween(above: Block, block: Block): string {
  if (block.joins === true) return ' ';
  return above.kind === 'list_item' && block.kind === 'list_item' ? '\n' : '\n\n';
}

interface Heading {
  readonly level: number;
  readonly text: string;
}

function below(headings: readonly Heading[], heading: Heading): readonly Heading[] {
  const level = Math.min(heading.level, placeLimits.headings);
  return [...headings.filter((above) => above.level < level), { ...heading, level }];
}

/** Removes what cannot be stored: PostgreSQL stores no NUL, and an unpaired surrogate has no UTF-8 form. */
function storable(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}

function locate(places: readonly Place[], start: number, end: number): Locator {
  const first = places[placeAt(places, start)];
  const last = places[placeAt(places, Math.max(start, end - 1))];
  return {
    ...(first?.page === undefined ? {} : { page: first.page, page_end: last?.page ?? first.page }),
    ...(first?.sheet === undefined ? {} : { sheet: first.sheet }),
    ...(first === undefined || first.headings.length === 0 ? {} : { heading_path: [...first.headings] }),
    char_start: start,
    char_end: end,
  };
}

function boxesOf(places: readonly Place[], start: number, end: number): ScanBox[] {
  const boxes: ScanBox[] = [];
  for (let at = placeAt(places, start); at < places.length; at += 1) {
    const place = places[at];
    if (place === undefined || place.start >= end) break;
    for (const box of boxesBetween(place.words, { start, end, offset: place.start }))
      boxes.push(toScanBox(place.page ?? 1, box));
  }
  return boxes;
}

/** Returns the index of the last place that starts at or before the offset. */
function placeAt(places: readonly Place[], offset: number): number {
  let low = 0;
  let high = places.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    const place = places[middle];
    if (place !== undefined && place.start <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}
