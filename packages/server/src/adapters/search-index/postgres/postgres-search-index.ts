import type { Kysely } from 'kysely';
import type { DatabaseSearchIndex } from '../../database/database.ts';
import type { Tables } from '../../database/tables.ts';
import { normaliseWords } from '../../full-text/bm25.ts';
import { createPostgresFullText } from '../../full-text/postgres-full-text.ts';
import { dropSegments } from '../drop-segments.ts';
import { createIndexThread, type IndexThread } from './postgres-index-thread.ts';
import { createPostgresQuestions } from './postgres-questions.ts';
import { insertSegment, readForThread } from './postgres-segment-rows.ts';

export interface PostgresSearchIndexDeps {
  readonly onChanged: (collectionId: string) => void;
  /** Changes when existing connections may lead to another server. */
  readonly epoch: () => number;
  /** Bytes that the caches of the thread of questions hold at most. */
  readonly searchCacheBytes?: number | undefined;
}

export interface PostgresSearchIndex extends DatabaseSearchIndex {
  /** Starts the thread of questions, so that the first question does not wait for it. */
  start(): void;
  /** Ends the threads. */
  close(): Promise<void>;
}

/**
 * The search index in PostgreSQL. New collections are indexed in segments (`search/segments`). A collection of an
 * earlier version keeps its index in `posting`, and has a row in `full_text`.
 */
export function createPostgresSearchIndex(deps: PostgresSearchIndexDeps): PostgresSearchIndex {
  const { onChanged, epoch, searchCacheBytes } = deps;
  const old = createPostgresFullText();
  // A question never waits for the building of a segment, and neither waits for a check.
  const asking = createIndexThread('search', searchCacheBytes);
  const building = createIndexThread('index-builder');
  const checking = createIndexThread('index-check');
  const questions = createPostgresQuestions({ thread: asking, epoch });
  return {
    async create() {
      // A collection without segments is an empty index.
    },
    async drop(db, collectionId, limit) {
      return (await dropSegments(db, collectionId)) && (await old.drop(db, collectionId, limit));
    },
    async add(db, collectionId, chunks) {
      if (await hasOldIndex(db, collectionId)) return old.add(db, collectionId, chunks);
      if (chunks.length === 0) return;
      const built = await building.call('build', chunks);
      await insertSegment(db, { collectionId, chunks: chunks.length, removals: 0, ...built });
      onChanged(collectionId);
    },
    async remove(db, collectionId, seqs) {
      if (await hasOldIndex(db, collectionId)) return old.remove(db, collectionId, seqs);
      if (seqs.length === 0) return;
      const header = await building.call('buildRemovals', seqs);
      const noPages = { pages: new Uint8Array(0), sizes: [] };
      await insertSegment(db, { collectionId, chunks: 0, removals: seqs.length, header, ...noPages });
      onChanged(collectionId);
    },
    async statistics(db, collectionId) {
      return (await questions.count(db, collectionId)) ?? old.statistics(db, collectionId);
    },
    async ask(db, question) {
      const words = [...new Set(normaliseWords(question.words))];
      if (words.length === 0 && question.projectId === undefined) return [];
      return (await questions.ask(db, question, words)) ?? old.ask(db, question);
    },
    async check(db, collectionId) {
      if (await hasOldIndex(db, collectionId)) return old.check(db, collectionId);
      return check(checking, db, collectionId);
    },
    async rebuild() {
      // Segments in PostgreSQL have one format and one analysis until now.
      return true;
    },
    start: asking.start,
    async close() {
      await Promise.all([asking.close(), building.close(), checking.close()]);
    },
  };
}

/** All reads see one snapshot, so that changes during the check are no errors. */
function check(thread: IndexThread, db: Kysely<Tables>, collectionId: string): Promise<readonly string[]> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute((transaction) => thread.call('check', collectionId, (request) => readForThread(transaction, request)));
}

async function hasOldIndex(db: Kysely<Tables>, collectionId: string): Promise<boolean> {
  const statistics = await db
    .selectFrom('full_text')
    .select('collection_id')
    .where('collection_id', '=', collectionId)
    .executeTakeFirst();
  return statistics !== undefined;
}
