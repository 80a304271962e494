import { CollectionMissing } from '../../stores/search/chunk-index.ts';
import { normaliseFolded, normaliseWords } from '../../stores/search/segments/index-words.ts';
import type { DatabaseSearchIndex } from '../database/database.ts';
import { metadataFilter } from '../database/metadata-filter.ts';
import { withSharedFlag } from './abort-flag.ts';
import { unpackAnswer } from './answer-rows.ts';
import { dropSegments } from './drop-segments.ts';
import { rebuildSome } from './rebuild-index.ts';
import { askIndex } from './search-thread.ts';
import type { ThreadValue } from './thread-statements.ts';

/** The search index in SQLite. Collections are indexed in segments (`search/segments`). */
export function createSqliteSearchIndex({
  onChanged,
}: {
  onChanged: (collectionId: string) => void;
}): DatabaseSearchIndex {
  return {
    drop: dropSegments,
    async add(db, collectionId, chunks) {
      if (chunks.length === 0) return;
      await askIndex(db, 'addChunks', { collectionId, chunks });
      onChanged(collectionId);
    },
    async remove(db, collectionId, seqs) {
      if (seqs.length === 0) return;
      await askIndex(db, 'removeChunks', { collectionId, seqs });
      onChanged(collectionId);
    },
    statistics: (db, collectionId) => askIndex(db, 'countIndexed', collectionId),
    async ask(db, question) {
      const { collectionId, projectId = null, exact = null, limit, withChunks = false, filter, signal } = question;
      const words = [...new Set(normaliseWords(question.words))];
      if (words.length === 0 && exact === null && projectId === null) return [];
      const condition = filter === undefined ? null : metadataFilter('sqlite', filter).compile(db);
      const asking = (ended?: Int32Array) =>
        askIndex(db, 'ask', {
          collectionId,
          projectId,
          words,
          folded: normaliseFolded(question),
          exact,
          limit,
          withChunks,
          filter: filter ?? null,
          ...(ended === undefined ? {} : { ended }),
          // Kysely types parameters as unknown; those of a filter are strings, numbers and texts of booleans.
          condition: condition && { sql: condition.sql, parameters: condition.parameters as ThreadValue[] },
        });
      const { answer } = await (signal === undefined ? asking() : withSharedFlag(signal, asking));
      if (answer.kind === 'no_collection') throw new CollectionMissing();
      return answer.kind === 'ranked' ? [...answer.chunks] : unpackAnswer(answer.packed);
    },
    async reindex(db, collectionId, chunks) {
      await askIndex(db, 'reindexChunks', { collectionId, chunks });
      onChanged(collectionId);
      return true;
    },
    check: async (db, collectionId) => (await askIndex(db, 'checkIndex', collectionId)).findings,
    rebuild: (db, collectionId) =>
      rebuildSome(db, collectionId, {
        insertRebuilt: async (_, id, chunks) =>
          void (await askIndex(db, 'insertRebuilt', { collectionId: id, chunks })),
        // A question is one transaction, so that it needs no replaced segment.
        keptUntil: () => null,
        hasRowLocks: false,
      }),
  };
}
