import type { IndexCacheLimits } from '../../search/segments/collection-index.ts';

const mebibyte = 1024 * 1024;
/** Bytes of the caches of one thread, when no setting says otherwise. */
export const defaultCacheBytes = 80 * mebibyte;

/** Divides the memory of one thread: two fifths for headers, two fifths for pages, and one fifth for lists of postings. */
export function divideCache(bytes = defaultCacheBytes): IndexCacheLimits {
  const fifth = Math.floor(bytes / 5);
  return { headerBytes: 2 * fifth, pageBytes: 2 * fifth, listBytes: fifth };
}
