import type { OnDuplicate, RecordType, SheetColumns, TextSplitter } from '@quartermaster/contract';
import type { Selectable } from 'kysely';
import type { RecordSource } from '../../../collections/records/record-repository.ts';
import { parseJson } from '../../../kernel/json/parse-json.ts';
import type { RecordTable } from '../../database/collection-tables.ts';

/** Writes the source of a record into its columns. */
export function sourceColumns(source: RecordSource) {
  return {
    type: source.type,
    title: source.title,
    content: source.content,
    file_id: source.fileId,
    url: source.url,
    text_splitter: source.textSplitter === null ? null : JSON.stringify(source.textSplitter),
    on_duplicate: source.onDuplicate ?? null,
    sheet_columns: source.columns === undefined ? null : JSON.stringify(source.columns),
  };
}

/** Reads the source of a record back from its columns. */
export function toSource(row: Selectable<RecordTable>): RecordSource {
  return {
    type: row.type as RecordType, // written by sourceColumns, as is what follows
    title: row.title,
    content: row.content,
    fileId: row.file_id,
    url: row.url,
    textSplitter: row.text_splitter === null ? null : (parseJson(row.text_splitter) as TextSplitter),
    ...(row.on_duplicate === null ? {} : { onDuplicate: row.on_duplicate as OnDuplicate }),
    ...(row.sheet_columns === null ? {} : { columns: parseJson(row.sheet_columns) as SheetColumns }),
  };
}
