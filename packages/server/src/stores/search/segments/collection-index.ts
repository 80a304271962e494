import { type Language, namedLanguages } from '../analysis/languages.ts';
import { languageTerm } from '../analysis/term-kinds.ts';
import type { Restriction, TermRange } from '../restriction.ts';
import { type CandidateSource, findCandidates } from './candidates.ts';
import { createLiveChunks, hasRemoved, isRemoved, type LiveChunks, mapAll } from './live-chunks.ts';
import type { RankedSegment } from './rank-segments.ts';
import { findPages, markRange } from './read-range.ts';
import type { PostingArrays } from './segment-format.ts';
import { decodeHeader, findTerm, largestBlock, type PostingList, type SegmentHeader } from './segment-reader.ts';

/** Reads the stored segments, as one transaction sees them. */
export interface SegmentStore {
  /** Returns the ids of a collection's segments in their order. */
  list(collectionId: string): readonly number[];
  readHeader(segment: number): Uint8Array;
  /** @param ahead number of pages from this one on that are likely to be read soon */
  readPage(segment: number, page: number, ahead: number): Uint8Array;
}

/** Maximum number of bytes that each cache holds. */
export interface IndexCacheLimits {
  readonly headerBytes: number;
  readonly pageBytes: number;
  readonly listBytes: number;
  readonly candidateBytes: number;
}

/** The index of one collection, with the removals of its segments applied. */
export interface CollectionIndex {
  /** Number of chunks, and of the words in them, including repeats. */
  readonly chunks: number;
  readonly words: number;
  /** Returns the languages that its chunks name as those of their stems, without removed chunks. */
  languages(): readonly Language[];
  /**
   * Finds terms in all segments.
   * @param options `restriction` restricts the chunks to rank, and not what is counted. `checkpoint` is called before each
   * term of a segment; it throws when the question has ended.
   */
  find(terms: readonly string[], options?: FindOptions): FoundTerms;
}

export interface FindOptions {
  readonly restriction?: Restriction | null;
  readonly checkpoint?: () => void;
}

export interface FoundTerms {
  /** Number of chunks with each term, in the order of the terms. */
  readonly counts: readonly number[];
  readonly segments: readonly RankedSegment[];
}

/** Opens the index of a collection. The caches outlive the transaction, because segments never change. */
export type OpenCollectionIndex = (collectionId: string) => CollectionIndex;

interface CachedSegment {
  readonly header: SegmentHeader;
  live: LiveChunks;
  /** The segments whose removals `live` has applied. */
  readonly applied: Set<number>;
  /** The languages that its chunks name, removed ones included; null until a question needs them. */
  languages: readonly Language[] | null;
}

interface CachedList {
  readonly list: PostingList | undefined;
  /** Number of removed chunks with the term, counted when `countedIn` had `countedAt` chunks. */
  removed: number;
  countedAt: number;
  countedIn: LiveChunks;
}

interface KeyedRestriction {
  readonly restriction: Restriction;
  readonly key: string;
}

/** The candidates of a restriction with a longer key, such as a list of many values, are not cached. */
const longestKey = 2000;

/** The maximum number of dictionary pages, of some 200 terms each, that the ranges of a filter read in a segment. */
const mostRangePages = 512;

/**
 * The caches live as long as the result. In SQLite, list committed segments only, because the id of a segment whose
 * transaction is rolled back is given again.
 */
export function createCollectionIndexes(store: SegmentStore, limits: IndexCacheLimits): OpenCollectionIndex {
  const segments: ByteCache<'header', CachedSegment> = createByteCache(limits.headerBytes);
  const pages: ByteCache<number, Uint8Array> = createByteCache(limits.pageBytes);
  const lists: ByteCache<string, CachedList> = createByteCache(limits.listBytes);
  const candidates: ByteCache<string, Int32Array | null> = createByteCache(limits.candidateBytes);

  function openSegment(id: number): CachedSegment {
    const known = segments.get(id, 'header');
    if (known !== undefined) return known;
    const header = decodeHeader(store.readHeader(id));
    const opened = { header, live: createLiveChunks(header), applied: new Set<number>(), languages: null };
    segments.set(id, 'header', opened, bytesOfHeader(header));
    return opened;
  }
  function readPage(id: number, number: number, ahead = 1): Uint8Array {
    const known = pages.get(id, number);
    if (known !== undefined) return known;
    const page = store.readPage(id, number, ahead);
    pages.set(id, number, page, page.length + entryBytes);
    return page;
  }
  function findLanguages(id: number, segment: CachedSegment): readonly Language[] {
    const hasTerm = (term: string) => findTerm(segment.header, (page, ahead) => readPage(id, page, ahead), term);
    segment.languages ??= namedLanguages.filter((language) => hasTerm(languageTerm(language)) !== undefined);
    return segment.languages.filter((language) => {
      const { list, removed } = openList(id, segment, languageTerm(language));
      return list !== undefined && list.count > removed;
    });
  }
  function findList(id: number, { header, live }: CachedSegment, term: string): CachedList {
    let found = lists.get(id, term);
    if (found === undefined) {
      const list = findTerm(header, (number, ahead) => readPage(id, number, ahead), term);
      found = { list, removed: 0, countedAt: header.seqs.length, countedIn: live };
      lists.set(id, term, found, bytesOfList(list) + 2 * term.length);
    }
    return found;
  }
  function openList(id: number, segment: CachedSegment, term: string): CachedList {
    const { live } = segment;
    const found = findList(id, segment, term);
    if (found.list !== undefined && (found.countedAt !== live.chunks || found.countedIn !== live)) {
      found.removed = live.removed === null ? 0 : countRemoved(found.list, live.removed);
      found.countedAt = live.chunks;
      found.countedIn = live;
    }
    return found;
  }
  function candidateSource(id: number, segment: CachedSegment): CandidateSource {
    const { header } = segment;
    let left = mostRangePages;
    return {
      chunks: header.seqs.length,
      listOf: (term) => findList(id, segment, term).list,
      markRange(range: TermRange) {
        const rangePages = findPages(header, range);
        left -= rangePages.length;
        if (left < 0) return null;
        return markRange(range, rangePages, { header, readPage: (number, ahead) => readPage(id, number, ahead) });
      },
    };
  }
  /** Many questions have the same filter, and finding the chunks of a range takes longer than ranking them. */
  function openCandidates(id: number, segment: CachedSegment, { restriction, key }: KeyedRestriction) {
    const known = candidates.get(id, key);
    if (known !== undefined) return known;
    const found = findCandidates(restriction, candidateSource(id, segment));
    if (key.length <= longestKey)
      candidates.set(id, key, found, entryBytes + 2 * key.length + 4 * (found?.length ?? 0));
    return found;
  }
  return (collectionId) => {
    const opened = mapAll(store.list(collectionId), (id) => ({ id, segment: openSegment(id) }));
    applyRemovals(opened);
    const chunks = opened.reduce((sum, { segment }) => sum + segment.live.chunks, 0);
    const words = opened.reduce((sum, { segment }) => sum + segment.live.words, 0);
    return {
      chunks,
      words,
      languages: () => [...new Set(mapAll(opened, ({ id, segment }) => findLanguages(id, segment)).flat())],
      find(terms, { restriction = null, checkpoint = () => {} } = {}) {
        const counts = new Array<number>(terms.length).fill(0);
        const keyed = restriction && { restriction, key: JSON.stringify(restriction) };
        const ranked = mapAll(opened, ({ id, segment }) => {
          const found = mapAll(terms, (term, place) => {
            checkpoint();
            const { list, removed } = openList(id, segment, term);
            counts[place] = (counts[place] as number) + (list === undefined ? 0 : list.count - removed);
            return list;
          });
          const { header, live } = segment;
          const isRestricted = keyed !== null && header.haveFilterTerms;
          const chosen = isRestricted ? openCandidates(id, segment, keyed) : null;
          return { chunks: header, removed: live.removed, lists: found, candidates: chosen };
        });
        return { counts, segments: ranked };
      },
    };
  };
}

/**
 * Applies the removals of each segment to the segments before it, once. A cached segment can have the removals of a list
 * that was read later, or of segments that were merged since. It then begins again, so that a question always sees the
 * state of its own list.
 */
function applyRemovals(opened: ReadonlyArray<{ id: number; segment: CachedSegment }>): void {
  const listed = new Set(opened.map(({ id }) => id));
  for (const { segment } of opened) {
    if (segment.applied.isSubsetOf(listed)) continue;
    segment.live = createLiveChunks(segment.header);
    segment.applied.clear();
  }
  for (const [place, { id, segment }] of opened.entries()) {
    if (segment.header.removals.length === 0) continue;
    for (const { segment: earlier } of opened.slice(0, place)) {
      if (earlier.applied.has(id) || earlier.header.seqs.length === 0) continue;
      earlier.live.remove(segment.header.removals);
      earlier.applied.add(id);
    }
  }
}

/** Counts the removed chunks of a list. Only blocks that may contain one are decoded. */
function countRemoved(list: PostingList, removed: Uint8Array): number {
  const postings: PostingArrays = { chunks: new Int32Array(largestBlock), repeats: new Uint8Array(largestBlock) };
  let count = 0;
  let from = 0;
  for (let block = 0; block < list.blocks; block++) {
    const to = (list.last[block] as number) + 1;
    if (hasRemoved(removed, from, to)) {
      const size = list.decode(block, postings);
      for (let at = 0; at < size; at++) if (isRemoved(removed, postings.chunks[at] as number)) count++;
    }
    from = to;
  }
  return count;
}

/** Bytes that an entry of a cache takes besides its content. */
const entryBytes = 200;

function bytesOfHeader({ seqs, lengths, firstTerms, removals, checksums }: SegmentHeader): number {
  const terms = firstTerms.reduce((sum, term) => sum + 2 * term.length + 30, 0);
  const arrays = seqs.byteLength + lengths.byteLength + removals.byteLength + checksums.byteLength;
  return entryBytes + arrays + terms + seqs.length / 8;
}

function bytesOfList(list: PostingList | undefined): number {
  if (list === undefined) return entryBytes;
  const short = list.blocks === 1 ? list.count * 5 : 0;
  return entryBytes + short + list.blocks * 12 + list.pairs.length * 8;
}

/** A cache whose entries together have at most a number of bytes. The entries that were used last stay. */
interface ByteCache<Key, Value> {
  get(segment: number, key: Key): Value | undefined;
  /** Adds an entry. One that alone exceeds the limit is not kept. */
  set(segment: number, key: Key, value: Value, bytes: number): void;
}

export function createByteCache<Key extends string | number, Value>(mostBytes: number): ByteCache<Key, Value> {
  /** In the order of their use. */
  const entries = new Map<string, { readonly value: Value; readonly bytes: number }>();
  let total = 0;

  function take(name: string) {
    const entry = entries.get(name);
    if (entry !== undefined && entries.delete(name)) total -= entry.bytes;
    return entry;
  }
  function add(name: string, entry: { readonly value: Value; readonly bytes: number }): void {
    entries.set(name, entry);
    total += entry.bytes;
  }
  return {
    get(segment, key) {
      const name = `${segment} ${key}`;
      const entry = take(name);
      if (entry !== undefined) add(name, entry);
      return entry?.value;
    },
    set(segment, key, value, bytes) {
      const name = `${segment} ${key}`;
      take(name);
      if (bytes > mostBytes) return;
      for (const oldest of entries.keys()) {
        if (total + bytes <= mostBytes) break;
        take(oldest);
      }
      add(name, { value, bytes });
    },
  };
}
