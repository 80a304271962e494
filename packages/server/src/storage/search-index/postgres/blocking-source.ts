import type { ListedChunk, ListedSegment, SegmentSource } from '../segment-source.ts';
import type { ReadPart, ReadRequest } from './postgres-index-protocol.ts';

/** Number of pages that are read together, because a merge reads the pages of a segment in nearly their order. */
const pagesPerRead = 32;
/** The pages of a dictionary and those of its lists are read side by side. */
const windowsOfSegment = 2;

interface PageWindow {
  readonly first: number;
  readonly pages: readonly Uint8Array[];
}

/**
 * Reads segments for a merge or a check whose thread waits for each answer.
 * @param read waits for the answer
 */
export function createBlockingSource(read: (request: ReadRequest) => unknown): SegmentSource {
  const windows = new Map<number, PageWindow[]>();
  const headers = new Map<number, Uint8Array>();

  function readWindow(segment: number, page: number): PageWindow {
    const pages = read({ kind: 'pages', segment, first: page, count: pagesPerRead }) as Uint8Array[];
    const window = { first: page, pages };
    windows.set(segment, [window, ...(windows.get(segment) ?? [])].slice(0, windowsOfSegment));
    return window;
  }
  return {
    readAhead(segments) {
      for (const { id, header, pages } of read({ kind: 'parts', segments }) as readonly ReadPart[]) {
        headers.set(id, header);
        windows.set(id, [{ first: 0, pages }]);
      }
    },
    readHeader(segment) {
      return headers.get(segment) ?? (read({ kind: 'header', segment }) as Uint8Array | null) ?? undefined;
    },
    readPage(segment, page) {
      const known = windows.get(segment)?.find(({ first, pages }) => page >= first && page < first + pages.length);
      const { first, pages } = known ?? readWindow(segment, page);
      return pages[page - first];
    },
    listSegments: (collectionId) => read({ kind: 'segments', collectionId }) as ListedSegment[],
    listChunks: (collectionId, after, limit) => read({ kind: 'chunks', collectionId, after, limit }) as ListedChunk[],
  };
}
