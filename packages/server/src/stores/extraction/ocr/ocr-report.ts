import type { OcrReport } from '../extraction.ts';
import type { OcrJob, UnreadReason } from './recognition.ts';

/** Words below this mean confidence get a warning; below the second, the page counts as not read. */
export const confidenceFloors = { warning: 80, read: 60 } as const;
const mostRanges = 200;

/** The pages of one document that OCR has read, and those that it has not. */
export interface OcrCounts {
  read(page: number, confidence: number, characters: number): void;
  unread(page: number, reason: UnreadReason): void;
  addSeconds(seconds: number): void;
  report(): OcrReport;
  warnings(): string[];
}

export function createOcrCounts(job: OcrJob & { readonly kind: 'on' }): OcrCounts {
  const pages: number[] = [];
  const doubtful: number[] = [];
  const unread = new Map<UnreadReason, number[]>();
  let seconds = 0;
  let weight = 0;
  let sum = 0;
  return {
    read: (page, confidence, characters) => {
      pages.push(page);
      weight += characters;
      sum += confidence * characters;
      if (characters > 0 && confidence < confidenceFloors.warning) doubtful.push(page);
    },
    unread: (page, reason) => {
      const list = unread.get(reason);
      if (list === undefined) unread.set(reason, [page]);
      else list.push(page);
    },
    addSeconds: (more) => {
      seconds += more;
    },
    report: () => ({
      engine: job.engine,
      languages: [...job.languages],
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
      ...[...unread].map(([reason, list]) => `ocr_partial: ${explanations[reason]}: pages ${named(list)}.`),
    ],
  };
}

const explanations: Record<UnreadReason, string> = {
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
