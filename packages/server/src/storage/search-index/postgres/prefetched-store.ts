import type { SegmentStore } from '../../../stores/search/segments/collection-index.ts';
import { NotAtHand } from '../../../stores/search/segments/live-chunks.ts';

/** Maximum number of pages that are fetched together, about 4 MiB. Further ones follow when they are needed. */
const mostPages = 512;

export interface MissingPages {
  readonly headers: readonly number[];
  readonly pages: readonly PageRange[];
}
export interface PageRange {
  readonly segment: number;
  readonly first: number;
  readonly count: number;
}

/** Holds the headers and pages that were fetched for one question, and notes those that it lacks. */
export interface PrefetchedStore extends SegmentStore {
  setHeader(segment: number, bytes: Uint8Array): void;
  setPage(segment: number, page: number, bytes: Uint8Array): void;
  /** Returns what was missing since the last call. */
  takeMissing(): MissingPages;
}

export function createPrefetchedStore(segments: readonly number[]): PrefetchedStore {
  const headers = new Map<number, Uint8Array>();
  const pages = new Map<string, Uint8Array>();
  const missingHeaders = new Set<number>();
  let missingPages: PageRange[] = [];
  let wanted = 0;
  return {
    list: () => segments,
    readHeader(segment) {
      const header = headers.get(segment);
      if (header !== undefined) return header;
      missingHeaders.add(segment);
      throw new NotAtHand();
    },
    readPage(segment, page, ahead) {
      const found = pages.get(`${segment}.${page}`);
      if (found !== undefined) return found;
      const count = Math.max(1, Math.min(ahead, mostPages - wanted));
      missingPages.push({ segment, first: page, count });
      wanted += count;
      throw new NotAtHand();
    },
    setHeader: (segment, bytes) => void headers.set(segment, bytes),
    setPage: (segment, page, bytes) => void pages.set(`${segment}.${page}`, bytes),
    takeMissing() {
      const missing = { headers: [...missingHeaders], pages: missingPages };
      missingHeaders.clear();
      missingPages = [];
      wanted = 0;
      return missing;
    },
  };
}
