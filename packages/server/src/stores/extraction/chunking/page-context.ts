import { isListOfEntries } from '../../search/analysis/field-terms.ts';
import type { PlacedBlock } from '../document.ts';

/** Neighbouring blocks that are cut alike: a page that is a form, or any other blocks. */
export interface Section {
  readonly blocks: readonly PlacedBlock[];
  readonly isForm: boolean;
}

/** What a table or a form is about: the lines at the top of its page, or else its headings. */
const headLimits = { lines: 3, characters: 120, headings: 3 } as const;
/** A longer page is no form. */
const longestForm = 8_000;
/** A form has at least this many lines, this share of them short, and this share with a label. */
const formShares = { lines: 6, short: 0.8, labelled: 0.4 } as const;
const longestEntry = 80;
/** A label with its colon, or a row of a label and a value. */
const labelled = /^[^:：|]{1,40}(?:[:：]|\|[^|]+$)/;
const sentenceEnd = /[\p{L}\p{N})"”][.!?。！？]$/u;

/** Divides the blocks of a document into forms and what stands between them. A form is one page. */
export function sectionsOf(text: string, blocks: Iterable<PlacedBlock>): Section[] {
  const sections: Array<{ blocks: PlacedBlock[]; isForm: boolean }> = [];
  for (const page of pagesOf(blocks)) {
    const isForm = isFormPage(text, page);
    const last = sections.at(-1);
    if (last === undefined || isForm || last.isForm) sections.push({ blocks: page, isForm });
    else for (const block of page) last.blocks.push(block);
  }
  return sections;
}

function* pagesOf(blocks: Iterable<PlacedBlock>): Generator<PlacedBlock[]> {
  let page: PlacedBlock[] = [];
  for (const block of blocks) {
    if (page.length > 0 && block.page !== page[0]?.page) {
      yield page;
      page = [];
    }
    page.push(block);
  }
  if (page.length > 0) yield page;
}

/** Whether a page consists of labels and values. */
function isFormPage(text: string, page: readonly PlacedBlock[]): boolean {
  const [first] = page;
  const last = page.at(-1);
  if (first?.page === undefined || last === undefined || last.end - first.start > longestForm) return false;
  if (page.some(({ kind }) => kind === 'code')) return false;
  const lines = page.flatMap(({ start, end }) => linesOf(text.slice(start, end)));
  if (lines.length < formShares.lines) return false;
  const isShort = (line: string) => line.length <= longestEntry && !sentenceEnd.test(line);
  const count = (test: (line: string) => boolean) => lines.filter(test).length;
  if (count(isShort) < formShares.short * lines.length) return false;
  if (count((line) => labelled.test(line)) < formShares.labelled * lines.length) return false;
  return !isListOfEntries(lines.join('\n'));
}

function linesOf(text: string): string[] {
  return text.split('\n').flatMap((line) => line.trim() || []);
}

/**
 * Returns a function that follows the blocks of a document in their order. It returns the lines to repeat before a part of a
 * block that begins a chunk: the short blocks at the top of its page or, without pages, the headings above it; empty if there are none.
 */
export function followHeads(text: string): (block: PlacedBlock) => string {
  let page: number | undefined;
  let isOpen = true;
  let lines: string[] = [];
  let headings: Array<{ readonly level: number; readonly name: string }> = [];
  return ({ kind, level = 1, start, end, page: own }) => {
    if (own !== page) [page, isOpen, lines] = [own, true, []];
    const head = own === undefined ? headings.slice(-headLimits.headings).map(({ name }) => name) : lines;
    const result = head.join('\n');
    if (own !== undefined && isOpen) {
      // A longer block continues the previous page, or is what the lines are about.
      const isLine = kind === 'heading' || kind === 'paragraph' || kind === 'table';
      const next = isLine && end - start <= headLimits.characters ? linesOf(text.slice(start, end)) : [];
      isOpen = next.length > 0 && lines.length + next.length <= headLimits.lines;
      if (isOpen) lines = [...lines, ...next];
    } else if (own === undefined && kind === 'heading') {
      const name = text.slice(start, end).trim().slice(0, headLimits.characters);
      headings = [...headings.filter((above) => above.level < level), { level, name }];
    }
    return result;
  };
}
