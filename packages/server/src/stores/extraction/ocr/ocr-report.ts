import type { OcrReport } from '../extraction.ts';
import type { OcrJob, UnreadReason } from './recognition.ts';

/** Words below this mean confidence get a warning; below the second, the page counts as not read. */
export const confidenceFloors = { warning: 80, read: 60 } as const;
const mostRanges = 200;

/** The pages of one document that OCR has read, and those that it has not. */
export interface OcrCounts {
  read(page: number, facts: ReadFacts): void;
  /** @param remedy a sentence for the warning */
  unread(page: number, reason: UnreadReason, remedy?: string): void;
  addSeconds(seconds: number): void;
  report(): OcrReport;
  warnings(): string[];
}

interface ReadFacts {
  readonly confidence: number;
  readonly characters: number;
  /** Default: those of the job. */
  readonly languages?: readonly string[] | undefined;
}

export function createOcrCounts(job: OcrJob & { readonly kind: 'on' }): OcrCounts {
  const pages: number[] = [];
  const doubtful: number[] = [];
  const unread = new Map<UnreadReason, number[]>();
  /** The pages of each warning. */
  const explained = new Map<string, number[]>();
  let seconds = 0;
  let weight = 0;
  let sum = 0;
  const languages = new Set<string>();
  return {
    read: (page, { confidence, characters, ...used }) => {
      for (const language of used.languages ?? job.languages) languages.add(language);
      pages.push(page);
      weight += characters;
      sum += confidence * characters;
      if (characters > 0 && confidence < confidenceFloors.warning) doubtful.push(page);
    },
    unread: (page, reason, remedy) => {
      append(unread, reason, page);
      append(
        explained,
        remedy === undefined ? `${explanations[reason]}: pages` : `${explanations[reason]}. ${remedy} Pages`,
        page,
      );
    },
    addSeconds: (more) => {
      seconds += more;
    },
    report: () => ({
      engine: job.engine,
      languages: languages.size === 0 ? [...job.languages] : [...languages],
      pages: toRanges(pages).slice(0, mostRanges),
      mean_confidence: weight === 0 ? null : Math.round(sum / weight),
      ...(doubtful.length === 0 ? {} : { low_confidence_pages: toRanges(doubtful).slice(0, mostRanges) }),
      ...(unread.size === 0
        ? {}
        : { not_read: [...unread].map(([reason, list]) => ({ reason, pages: toRanges(list).slice(0, mostRanges) })) }),
      seconds: Math.round(seconds * 10) / 10,
    }),
    warnings: () => [
      ...(doubtful.length === 0
        ? []
        : [`ocr_low_confidence: the words of these scanned pages are doubtful: ${named(doubtful)}.`]),
      ...[...explained].map(([why, list]) => `ocr_partial: ${why} ${named(list)}.`),
    ],
  };
}

function append<Key>(lists: Map<Key, number[]>, key: Key, page: number): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [page]);
  else list.push(page);
}

const explanations: Record<UnreadReason, string> = {
  script_not_installed: 'no language data for the script of scanned pages is installed',
  page_limit: 'the record has more scanned pages than OCR reads',
  time_limit: 'OCR of the record took too long',
  page_time_limit: 'OCR of one page took too long',
  pixel_limit: 'scanned pages have too many pixels',
  memory_limit: 'OCR of scanned pages used too much memory',
  failed: 'scanned pages could not be read',
  low_confidence: 'the words of scanned pages are too doubtful to be kept; another language may read them',
};

/** Returns ascending pages as ranges. */
export function toRanges(pages: readonly number[]): Array<[number, number]> {
  const ranges: Array<[number, number]> = [];
  for (const page of pages) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === page - 1) last[1] = page;
    else ranges.push([page, page]);
  }
  return ranges;
}

export function named(pages: readonly number[]): string {
  const ranges = toRanges(pages);
  const shown = ranges.slice(0, 20).map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`));
  return shown.join(', ') + (ranges.length > 20 ? ' and others' : '');
}
