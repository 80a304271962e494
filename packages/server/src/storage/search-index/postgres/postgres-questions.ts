import type { Kysely } from 'kysely';
import type { Admission } from '../../../platform/admission/admission.ts';
import {
  type ChunkFilter,
  type ChunkSearch,
  CollectionMissing,
  type FoundChunk,
} from '../../../stores/search/chunk-index.ts';
import { allowRecords, listFiles, type Restriction, toRestriction } from '../../../stores/search/restriction.ts';
import type { Statistics } from '../../../stores/search/search-index.ts';
import { normaliseFolded } from '../../../stores/search/segments/index-words.ts';
import { PageMissing } from '../../../stores/search/segments/segment-format.ts';
import type { ChunkRow } from '../../database/database.ts';
import type { Tables } from '../../database/tables.ts';
import { takeVisible } from '../../database/visible-chunks.ts';
import { withSharedFlag } from '../abort-flag.ts';
import type { Attempt, ListedQuestion } from './postgres-index-protocol.ts';
import type { IndexThread } from './postgres-index-thread.ts';
import { fetchMissing, listCollection } from './postgres-segment-rows.ts';
import type { MissingPages } from './prefetched-store.ts';
import type { QuestionThreads } from './question-threads.ts';

export interface QuestionDeps {
  readonly threads: Pick<QuestionThreads, 'use'>;
  /** Changes when existing connections may lead to another server. */
  readonly epoch: () => number;
  readonly admission: Admission;
}

/**
 * Answers questions in PostgreSQL.
 *
 * A question needs two statements: one lists the segments, and one decides which of the best chunks are visible. Pages
 * that the thread does not have in its caches are fetched in between. No transaction spans the two statements. Meanwhile,
 * a merge can replace and delete a listed segment, or a record can get new chunks in a segment that is not listed.
 * The question then begins again.
 */
export interface PostgresQuestions {
  /** @param words distinct and normalised */
  ask(db: Kysely<Tables>, question: ChunkSearch, words: readonly string[]): Promise<Array<FoundChunk<ChunkRow>>>;
  count(db: Kysely<Tables>, collectionId: string): Promise<Statistics>;
}

/** Segments are deleted a minute after their replacement. A question that finds one missing this often finds damage. */
const mostAttempts = 5;

interface AskedCollection extends Pick<ChunkSearch, 'collectionId' | 'projectId'> {
  readonly ended?: Int32Array | null;
  readonly filter?: ChunkFilter | undefined;
}

interface Worked<Result> {
  readonly result: Result;
  /** Whether the segments of the collection have changed since, so that the result may be wrong. */
  readonly isOutdated?: boolean;
}

interface Asker {
  readonly db: Kysely<Tables>;
  readonly projectId: string | null;
  readonly thread: IndexThread;
}

/** Asks the thread with what was fetched so far. */
type AskThread<Result> = (listed: ListedQuestion) => Promise<Attempt<Result>>;

export function createPostgresQuestions({ threads, epoch, admission }: QuestionDeps): PostgresQuestions {
  let questions = 0;
  const fetching = admission.queue('page_fetches', { waiting: Number.POSITIVE_INFINITY });

  /** Lists the segments and works on them. Repeats this, at most `mostAttempts` times, if one is gone or the result is outdated. */
  async function withSegments<Result>(
    db: Kysely<Tables>,
    { ended = null, filter, ...collection }: AskedCollection,
    work: (listed: ListedQuestion, restriction: Restriction | null) => Promise<Worked<Result>>,
  ): Promise<Result> {
    const files = filter === undefined ? null : listFiles(filter);
    for (let attempt = 1; ; attempt++) {
      const listed = { question: ++questions, isPrivate: db.isTransaction, epoch: epoch(), ended, fetched: null };
      const filesOfFilter = filter === undefined ? null : (files ?? []);
      const { exists, segments, changedRecords, ofFiles } = await listCollection(db, {
        ...collection,
        filesOfFilter,
      });
      if (!exists) throw new CollectionMissing();
      const restriction = filter === undefined ? null : toRestriction(filter, files && ofFiles);
      try {
        const allowed = restriction && allowRecords(restriction, changedRecords);
        const { result, isOutdated = false } = await work({ ...listed, segments }, allowed);
        if (!isOutdated || attempt === mostAttempts) return result;
      } catch (error) {
        if (!(error instanceof PageMissing) || attempt === mostAttempts) throw error;
      }
    }
  }
  async function answer<Result>({ db, projectId, thread }: Asker, listed: ListedQuestion, ask: AskThread<Result>) {
    const found = await ask(listed);
    if ('result' in found) return found.result;
    const fetchAndAsk = () => fetchMissingOf(found.missing, { db, thread, listed, ask });
    // A transaction holds a connection, for which the other questions may wait.
    if (listed.isPrivate) return await fetchAndAsk();
    return (await fetching.run({ projectId, keyId: null }, fetchAndAsk)) as Result; // null only after an abort
  }
  async function fetchMissingOf<Result>(
    missing: MissingPages,
    { db, thread, listed, ask }: Omit<Asker, 'projectId'> & { listed: ListedQuestion; ask: AskThread<Result> },
  ): Promise<Result> {
    try {
      for (let wanted = missing; ; ) {
        const fetched = await fetchMissing(db, wanted);
        // Another server may give an id again that its predecessor has lost.
        if (fetched === undefined || epoch() !== listed.epoch) throw new PageMissing();
        const found = await ask({ ...listed, fetched });
        if ('result' in found) return found.result;
        wanted = found.missing;
      }
    } finally {
      await thread.call('end', listed.question);
    }
  }
  return {
    ask(db, { collectionId, projectId, limit, withChunks, filter, signal, ...rest }, words) {
      const folded = normaliseFolded(rest);
      const { exact = null } = rest;
      const askWith = (thread: IndexThread, ended: Int32Array | null) =>
        withSegments(db, { collectionId, projectId, ended, filter }, async (listed, restriction) => {
          signal?.throwIfAborted();
          if (listed.segments.length === 0 || (words.length === 0 && exact === null)) return { result: [] };
          const isRestricted = restriction !== null;
          let hasHidden = false;
          const onHidden = () => {
            hasHidden = true;
          };
          const visible = {
            limit,
            filter,
            dialect: 'postgres',
            least: 2 * limit + 5,
            isRestricted,
            withChunks,
            onHidden,
          } as const;
          const result = await takeVisible(db, visible, (count) =>
            answer({ db, projectId: projectId ?? null, thread }, listed, (question) => {
              signal?.throwIfAborted();
              return thread.call('rank', { ...question, words, folded, exact, restriction, count });
            }),
          );
          return { result, isOutdated: hasHidden && (await hasOtherSegments(db, collectionId, listed.segments)) };
        });
      return threads.use((thread) =>
        signal === undefined ? askWith(thread, null) : withSharedFlag(signal, (ended) => askWith(thread, ended)),
      );
    },
    count: (db, collectionId) =>
      threads.use((thread) =>
        withSegments(db, { collectionId }, async (listed) => {
          if (listed.segments.length === 0) return { result: { chunks: 0, words: 0 } };
          return {
            result: await answer({ db, projectId: null, thread }, listed, (question) => thread.call('count', question)),
          };
        }),
      ),
  };
}

async function hasOtherSegments(db: Kysely<Tables>, collectionId: string, listed: readonly number[]): Promise<boolean> {
  const { segments } = await listCollection(db, { collectionId });
  return segments.join() !== listed.join();
}
