import type { Kysely } from 'kysely';
import type { Admission } from '../../../platform/admission/admission.ts';
import type { IndexedChunk } from '../../../stores/search/search-index.ts';
import { normaliseWords } from '../../../stores/search/segments/index-words.ts';
import type { DatabaseSearchIndex } from '../../database/database.ts';
import type { Tables } from '../../database/tables.ts';
import { dropSegments } from '../drop-segments.ts';
import { holdOffChanges, holdOffRebuild } from '../index-locks.ts';
import { rebuildSome } from '../rebuild-index.ts';
import type { PackedSegment } from './postgres-index-protocol.ts';
import { createIndexThread, type IndexThread } from './postgres-index-thread.ts';
import { createPostgresQuestions } from './postgres-questions.ts';
import { findPassed, insertSegment, readForThread } from './postgres-segment-rows.ts';
import { createQuestionThreads } from './question-threads.ts';

export interface PostgresSearchIndexDeps {
  readonly onChanged: (collectionId: string) => void;
  /** The time from which on segments that are replaced now may be deleted. */
  readonly keptUntil: () => number;
  /** Changes when existing connections may lead to another server. */
  readonly epoch: () => number;
  /** Bytes that the caches of the thread of questions hold at most. */
  readonly searchCacheBytes?: number | undefined;
  readonly admission: Admission;
}

export interface PostgresSearchIndex extends DatabaseSearchIndex {
  /** Starts the thread of questions, so that the first question does not wait for it. */
  start(): void;
  /** Ends the threads. */
  close(): Promise<void>;
}

interface AddedMeanwhile {
  readonly collectionId: string;
  readonly chunks: readonly IndexedChunk[];
  /** A rebuild has read the chunks up to this id. */
  readonly reached: string;
}

/** The search index in PostgreSQL. Collections are indexed in segments (`search/segments`). */
export function createPostgresSearchIndex(deps: PostgresSearchIndexDeps): PostgresSearchIndex {
  const { onChanged, keptUntil, epoch, searchCacheBytes, admission } = deps;
  // A question never waits for the building of a segment, and neither waits for a check.
  const asking = createQuestionThreads(searchCacheBytes);
  const building = createIndexThread('index-builder');
  const checking = createIndexThread('index-check');
  const questions = createPostgresQuestions({ threads: asking, epoch, admission });

  async function addPassed(db: Kysely<Tables>, { collectionId, chunks, reached }: AddedMeanwhile): Promise<void> {
    const passed = await findPassed(db, chunks, reached);
    if (passed.length === 0) return;
    const built = await building.call('build', passed);
    await insertSegment(db, { ...toSegment(collectionId, passed, built), state: 'rebuilt' });
  }

  async function prepare(collectionId: string, chunks: readonly IndexedChunk[]) {
    const built = await building.call('build', chunks);
    return async (db: Kysely<Tables>) => {
      await holdOffRebuild(db, collectionId);
      const reached = await insertSegment(db, { ...toSegment(collectionId, chunks, built), state: 'live' });
      if (reached !== null) await addPassed(db, { collectionId, chunks, reached });
      onChanged(collectionId);
    };
  }
  return {
    async drop(db, collectionId) {
      await holdOffRebuild(db, collectionId);
      return dropSegments(db, collectionId);
    },
    prepare,
    async add(db, collectionId, chunks) {
      if (chunks.length === 0) return;
      const insert = await prepare(collectionId, chunks);
      await insert(db);
    },
    async remove(db, collectionId, seqs) {
      if (seqs.length === 0) return;
      const header = await building.call('buildRemovals', seqs);
      const noPages = { pages: new Uint8Array(0), sizes: [] };
      const segment = { collectionId, chunks: 0, removals: new Set(seqs).size, header, ...noPages };
      await holdOffRebuild(db, collectionId);
      const reached = await insertSegment(db, { ...segment, state: 'live' });
      // A chunk that a rebuild has read may have changed.
      if (reached !== null) await insertSegment(db, { ...segment, state: 'rebuilt' });
      onChanged(collectionId);
    },
    async reindex(db, collectionId, chunks) {
      const built = await building.call('buildRebuilt', chunks);
      await holdOffRebuild(db, collectionId);
      if (await isRebuilt(db, collectionId)) return false;
      const removals = chunks.map(({ seq }) => seq);
      await this.remove(db, collectionId, removals);
      await insertSegment(db, { ...toSegment(collectionId, chunks, built), state: 'live' });
      return true;
    },
    statistics: questions.count,
    async ask(db, question) {
      const words = [...new Set(normaliseWords(question.words))];
      const { exact = null, projectId } = question;
      if (words.length === 0 && exact === null && projectId === undefined) return [];
      return questions.ask(db, question, words);
    },
    check: (db, collectionId) => check(checking, db, collectionId),
    async rebuild(db, collectionId) {
      await holdOffChanges(db, collectionId);
      return rebuildSome(db, collectionId, {
        async insertRebuilt(_, id, chunks) {
          const built = await building.call('buildRebuilt', chunks);
          await insertSegment(db, { ...toSegment(id, chunks, built), state: 'rebuilt' });
        },
        keptUntil,
        hasRowLocks: true,
      });
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

function toSegment(collectionId: string, { length }: { readonly length: number }, built: PackedSegment) {
  return { collectionId, chunks: length, removals: 0, ...built };
}

async function isRebuilt(db: Kysely<Tables>, collectionId: string): Promise<boolean> {
  const rebuild = db.selectFrom('index_rebuild').select('chunks').where('collection_id', '=', collectionId);
  return (await rebuild.executeTakeFirst()) !== undefined;
}
