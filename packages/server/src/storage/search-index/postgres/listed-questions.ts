import type { RankedChunk } from '../../../stores/search/chunk-index.ts';
import type { Statistics } from '../../../stores/search/search-index.ts';
import {
  type CollectionIndex,
  createCollectionIndexes,
  type IndexCacheLimits,
  type OpenCollectionIndex,
} from '../../../stores/search/segments/collection-index.ts';
import { NotAtHand } from '../../../stores/search/segments/live-chunks.ts';
import { divideCache } from '../index-caches.ts';
import { createCheckpoint, createRanking } from '../questions.ts';
import type { Attempt, FetchedPages, ListedQuestion, RankQuestion } from './postgres-index-protocol.ts';
import { createPrefetchedStore, type PrefetchedStore } from './prefetched-store.ts';

/** Answers questions in a thread without a database connection, from caches and from what the caller has fetched. */
export interface ListedQuestions {
  rank(question: RankQuestion): Attempt<RankedChunk[]>;
  count(question: ListedQuestion): Attempt<Statistics>;
  end(question: number): null;
}

/** @param cacheBytes the bytes that the caches of the thread hold at most */
export function createListedQuestions(cacheBytes?: number): ListedQuestions {
  const caches = divideCache(cacheBytes);
  /** What was fetched for questions that are not answered yet. The caches alone may be too small for one question. */
  const unanswered = new Map<number, PrefetchedStore>();
  let shared: SharedIndex = createSharedIndex(0, caches);

  function attempt<Result>(asked: ListedQuestion, answer: (index: CollectionIndex) => Result): Attempt<Result> {
    const { question, segments, isPrivate, epoch, fetched } = asked;
    if (epoch !== shared.epoch) shared = createSharedIndex(epoch, caches);
    const store = unanswered.get(question) ?? createPrefetchedStore(segments);
    if (fetched !== null) keep(store, fetched);
    // The caches of a private question end with it.
    const open = isPrivate ? createCollectionIndexes(store, caches) : shared.openWith(store);
    try {
      return { result: answer(open('')) };
    } catch (error) {
      if (!(error instanceof NotAtHand)) throw error;
      unanswered.set(question, store);
      return { missing: store.takeMissing() };
    }
  }
  return {
    rank: (asked) => attempt(asked, (index) => rank(index, asked)),
    count: (asked) => attempt(asked, ({ chunks, words }) => ({ chunks, words })),
    end(question) {
      unanswered.delete(question);
      return null;
    },
  };
}

function rank(
  index: CollectionIndex,
  { words, folded, exact, restriction, count, ended }: RankQuestion,
): RankedChunk[] {
  const checkpoint = createCheckpoint(ended ?? undefined);
  checkpoint();
  return createRanking(index, { words, folded, exact, restriction, checkpoint })(count);
}

interface SharedIndex {
  readonly epoch: number;
  /** Returns the index over the caches of all questions, which reads what they lack from the store. */
  openWith(store: PrefetchedStore): OpenCollectionIndex;
}

function createSharedIndex(epoch: number, caches: IndexCacheLimits): SharedIndex {
  let current = createPrefetchedStore([]);
  const open = createCollectionIndexes(
    {
      list: (collectionId) => current.list(collectionId),
      readHeader: (segment) => current.readHeader(segment),
      readPage: (segment, page, ahead) => current.readPage(segment, page, ahead),
    },
    caches,
  );
  return {
    epoch,
    openWith(store) {
      current = store;
      return open;
    },
  };
}

/** Copies each part, because a cached part would otherwise keep all of them in memory. */
function keep(store: PrefetchedStore, { entries, bytes }: FetchedPages): void {
  let at = 0;
  for (const { segment, page, size } of entries) {
    const part = bytes.slice(at, at + size);
    at += size;
    if (page === null) store.setHeader(segment, part);
    else store.setPage(segment, page, part);
  }
}
