import { sql } from 'kysely';

/** Selects the JSON of the file of a record; null without a file, or without its content. The text of another record may be long. */
export const fileOfRecord = sql<
  string | null
>`case when record.file_id is null or record.content = '' then null else record.content end`.as('file');
