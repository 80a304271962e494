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
