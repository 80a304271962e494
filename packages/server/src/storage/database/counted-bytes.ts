import { sql } from 'kysely';
import type { Tables } from './tables.ts';

/** The columns whose bytes count in the quota of a project: every text of a row that a caller, or a document, decides. */
export const countedTexts = {
  chunk: ['content', 'question', 'answer', 'metadata', 'locator', 'scan_boxes'],
  record_row: ['sheet', 'code', 'column_name', 'excerpt', 'fields'],
  record: [
    ...(['title', 'content', 'metadata', 'url', 'text_splitter', 'sheet_columns', 'encrypted_password'] as const),
    ...(['error_message', 'error_details', 'report', 'made'] as const),
  ],
  collection: ['name', 'description', 'metadata', 'retrieval', 'chunking'],
  file: ['name'],
} as const satisfies { readonly [Table in keyof Tables]?: ReadonlyArray<keyof Tables[Table]> };

type Counted = typeof countedTexts;
type Texts<Table extends keyof Counted> = {
  readonly [Text in Counted[Table][number]]?: string | null | undefined;
};

const octetsOf = (table: keyof Counted) =>
  sql<number>`(${sql.join(
    countedTexts[table].map((text) => sql`coalesce(octet_length(${sql.ref(`${table}.${text}`)}), 0)`),
    sql` + `,
  )})`;

/** The bytes of a stored row that count in the quota of its project. Those of a record are without its chunks and rows. */
export const bytesOfChunk = octetsOf('chunk');
export const bytesOfRow = octetsOf('record_row');
export const bytesOfRecord = octetsOf('record');
export const bytesOfCollection = octetsOf('collection');
export const bytesOfFileName = octetsOf('file');

/** The same bytes of rows that are about to be stored. */
export function countBytes<Table extends keyof Counted>(table: Table, rows: ReadonlyArray<Texts<Table>>): number {
  const texts: ReadonlyArray<Counted[Table][number]> = countedTexts[table];
  return rows.reduce((sum, row) => texts.reduce((of, text) => of + Buffer.byteLength(row[text] ?? ''), sum), 0);
}
