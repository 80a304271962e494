import type { IndexCacheLimits } from '../../stores/search/segments/collection-index.ts';

const mebibyte = 1024 * 1024;
/** Bytes of the caches of one thread, when no setting says otherwise. */
export const defaultCacheBytes = 80 * mebibyte;

/**
 * Divides the memory of one thread in twentieths: eight for headers, eight for pages, three for lists of postings, and one
 * for the chunks that filters choose.
 */
export function divideCache(bytes = defaultCacheBytes): IndexCacheLimits {
  const part = Math.floor(bytes / 20);
  return { headerBytes: 8 * part, pageBytes: 8 * part, listBytes: 3 * part, candidateBytes: part };
}
