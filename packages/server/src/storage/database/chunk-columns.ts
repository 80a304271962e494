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

/** The JSON of the file of a record; null without a file, or without its content. The text of another record may be long. */
export const fileSql = "case when record.file_id is null or record.content = '' then null else record.content end";

/** The columns of a chunk and the names of its record, in SQL. */
export const answerColumns = [...columnsOfChunk, 'record.title', 'record.file_id', 'record.url', fileSql].join(', ');
