import type { Kysely } from 'kysely';
import type { DatabaseSearchIndex } from '../database/database.ts';
import type { Tables } from '../database/tables.ts';
import { normaliseWords } from '../full-text/bm25.ts';
import { metadataFilter } from '../full-text/metadata-filter.ts';
import { createSqliteFullText } from '../full-text/sqlite-full-text.ts';
import { dropSegments } from './drop-segments.ts';
import { addSegment, ask, countIndexed, findIndexErrors, removeChunks } from './search-thread.ts';
import type { ThreadValue } from './thread-statements.ts';

/**
 * The search index in SQLite. New collections are indexed in segments (`search/segments`). A collection of an earlier
 * version keeps its index of FTS5, which has a row in `full_text_place`.
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
      if (await hasOldIndex(db, collectionId)) return old.add(db, collectionId, chunks);
      if (chunks.length === 0) return;
      await addSegment(db, { collectionId, chunks });
      onChanged(collectionId);
    },
    async remove(db, collectionId, seqs) {
      if (await hasOldIndex(db, collectionId)) return old.remove(db, collectionId, seqs);
      if (seqs.length === 0) return;
      await removeChunks(db, { collectionId, seqs });
      onChanged(collectionId);
    },
    async statistics(db, collectionId) {
      return (await countIndexed(db, collectionId)) ?? old.statistics(db, collectionId);
    },
    async ask(db, question) {
      const { collectionId, limit, filter } = question;
      const words = [...new Set(normaliseWords(question.words))];
      if (words.length === 0) return [];
      const condition = filter === undefined ? null : metadataFilter('sqlite', filter).compile(db);
      const answer = await ask(db, {
        ...{ collectionId, words, limit },
        // Kysely types parameters as unknown; those of a filter are strings, numbers and texts of booleans.
        condition: condition && { sql: condition.sql, parameters: condition.parameters as ThreadValue[] },
      });
      return answer === null ? old.ask(db, question) : [...answer];
    },
    check: findIndexErrors,
  };
}

async function hasOldIndex(db: Kysely<Tables>, collectionId: string): Promise<boolean> {
  const place = await db
    .selectFrom('full_text_place')
    .select('number')
    .where('collection_id', '=', collectionId)
    .executeTakeFirst();
  return place !== undefined;
}
