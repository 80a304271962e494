import { sql } from 'kysely';
import type { ChunkTable, RecordRowTable } from './collection-tables.ts';

/** The columns of a chunk whose bytes count in the quota of its project. */
const chunkTexts = ['content', 'question', 'answer', 'metadata', 'locator', 'scan_boxes'] as const;
/** The same for a reported row. */
const rowTexts = ['sheet', 'code', 'column_name', 'excerpt', 'fields'] as const;

const octetsOf = (table: 'chunk' | 'record_row', texts: readonly string[]) =>
  sql<number>`(${sql.join(
    texts.map((text) => sql`coalesce(octet_length(${sql.ref(`${table}.${text}`)}), 0)`),
    sql` + `,
  )})`;

/** The bytes of a stored chunk, and of a stored row, that count in the quota of its project. */
export const bytesOfChunk = octetsOf('chunk', chunkTexts);
export const bytesOfRow = octetsOf('record_row', rowTexts);

function countTexts<Row>(rows: readonly Row[], texts: ReadonlyArray<keyof Row>): number {
  return rows.reduce((sum, row) => texts.reduce((of, text) => of + Buffer.byteLength(String(row[text] ?? '')), sum), 0);
}

/** The same bytes of chunks and rows that are about to be stored. */
export const countChunkBytes = (rows: ReadonlyArray<Pick<ChunkTable, (typeof chunkTexts)[number]>>) =>
  countTexts(rows, chunkTexts);
export const countRowBytes = (rows: ReadonlyArray<Pick<RecordRowTable, (typeof rowTexts)[number]>>) =>
  countTexts(rows, rowTexts);
