import { sql } from 'kysely';
import type { ChunkTable } from './collection-tables.ts';

/** The columns of a chunk that an answer needs, without its boxes, which may be large. The first one identifies it. */
export const chunkColumns = [
  'seq',
  'id',
  'collection_id',
  'record_id',
  'content',
  'question',
  'answer',
  'num_tokens',
  'metadata',
  'locator',
  'created_at',
  'updated_at',
] as const satisfies ReadonlyArray<keyof ChunkTable>;

/** The same columns with the name of their table. */
export const columnsOfChunk = chunkColumns.map((column) => `chunk.${column}` as const);

const texts = ['content', 'question', 'answer', 'metadata', 'locator', 'scan_boxes'] as const;

/** The bytes of a chunk that count in the quota of its project. */
export const bytesOfChunk = sql<number>`(${sql.join(
  texts.map((column) => sql`coalesce(octet_length(${sql.ref(`chunk.${column}`)}), 0)`),
  sql` + `,
)})`;
