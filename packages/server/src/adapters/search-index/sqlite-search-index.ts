import type { Kysely } from 'kysely';
import { CollectionMissing } from '../../search/chunk-index.ts';
import type { DatabaseSearchIndex } from '../database/database.ts';
import type { Tables } from '../database/tables.ts';
import { normaliseFolded, normaliseWords } from '../full-text/bm25.ts';
import { metadataFilter } from '../full-text/metadata-filter.ts';
import { createSqliteFullText } from '../full-text/sqlite-full-text.ts';
import { withSharedFlag } from './abort-flag.ts';
import { unpackAnswer } from './answer-rows.ts';
import { dropSegments } from './drop-segments.ts';
import { rebuildSome } from './rebuild-index.ts';
import {
  addChunks,
  ask,
  countIndexed,
  findIndexErrors,
  insertRebuilt,
  reindexChunks,
  removeChunks,
} from './search-thread.ts';
import type { ThreadValue } from './thread-statements.ts';

/** Number of rows of FTS5 that one transaction deletes. */
const oldRowsPerTransaction = 500;

/**
 * The search index in SQLite. Collections are indexed in segments (`search/segments`). The index of FTS5 that an earlier
 * version has created has rows in `full_text` and `full_text_place`. It answers until a rebuild has replaced it, which
 * deletes the row in `full_text`. Its words are then deleted, and at last the row in `full_text_place`.
 */
export function createSqliteSearchIndex({
  onChanged,
}: {
  onChanged: (collectionId: string) => void;
}): DatabaseSearchIndex {
  const old = createSqliteFullText();
  return {
    async create() {
      // A collection without segments is an empty index.
    },
    async drop(db, collectionId, limit) {
      return (await dropSegments(db, collectionId)) && (await old.drop(db, collectionId, limit));
    },
    async add(db, collectionId, chunks) {
      if (chunks.length === 0) return;
      const { hasOldIndex } = await addChunks(db, { collectionId, chunks });
      if (hasOldIndex) await old.add(db, collectionId, chunks);
      onChanged(collectionId);
    },
    async remove(db, collectionId, seqs) {
      if (seqs.length === 0) return;
      const { hasOldRows } = await removeChunks(db, { collectionId, seqs });
      if (hasOldRows) await old.remove(db, collectionId, seqs);
      onChanged(collectionId);
    },
    async statistics(db, collectionId) {
      return (await countIndexed(db, collectionId)) ?? old.statistics(db, collectionId);
    },
    async ask(db, question) {
      const { collectionId, projectId = null, exact = null, limit, withChunks = false, filter, signal } = question;
      const words = [...new Set(normaliseWords(question.words))];
      if (words.length === 0 && exact === null && projectId === null) return [];
      const condition = filter === undefined ? null : metadataFilter('sqlite', filter).compile(db);
      const asking = (ended?: Int32Array) =>
        ask(db, {
          ...{
            collectionId,
            projectId,
            words,
            folded: normaliseFolded(question),
            exact,
            limit,
            withChunks,
            filter: filter ?? null,
            ...(ended === undefined ? {} : { ended }),
          },
          // Kysely types parameters as unknown; those of a filter are strings, numbers and texts of booleans.
          condition: condition && { sql: condition.sql, parameters: condition.parameters as ThreadValue[] },
        });
      const answer = await (signal === undefined ? asking() : withSharedFlag(signal, asking));
      if (answer.kind === 'no_collection') throw new CollectionMissing();
      if (answer.kind === 'ranked') return [...answer.chunks];
      if (answer.kind === 'found') return unpackAnswer(answer.packed);
      const found = await old.ask(db, question);
      // A rebuild that has ended meanwhile may have hidden the old index from this question.
      return (await hasOldIndex(db, collectionId)) ? found : this.ask(db, question);
    },
    async reindex(db, collectionId, chunks) {
      await reindexChunks(db, { collectionId, chunks });
      onChanged(collectionId);
      return true;
    },
    check: findIndexErrors,
    async rebuild(db, collectionId) {
      if (await isReplaced(db, collectionId)) return old.drop(db, collectionId, oldRowsPerTransaction);
      const isFinished = await rebuildSome(db, collectionId, {
        insertRebuilt: (_, id, chunks) => insertRebuilt(db, { collectionId: id, chunks }),
        // A question is one transaction, so that it needs no replaced segment.
        keptUntil: () => null,
        hasRowLocks: false,
      });
      return isFinished && !(await isReplaced(db, collectionId));
    },
  };
}

async function hasOldIndex(db: Kysely<Tables>, collectionId: string): Promise<boolean> {
  const rows = db.selectFrom('full_text').select('collection_id').where('collection_id', '=', collectionId);
  return (await rows.executeTakeFirst()) !== undefined;
}

/** Returns whether segments have replaced an index of FTS5 whose rows still exist. */
async function isReplaced(db: Kysely<Tables>, collectionId: string): Promise<boolean> {
  const place = await db
    .selectFrom('full_text_place')
    .leftJoin('full_text', 'full_text.collection_id', 'full_text_place.collection_id')
    .select('full_text.chunks')
    .where('full_text_place.collection_id', '=', collectionId)
    .executeTakeFirst();
  return place !== undefined && place.chunks === null;
}
