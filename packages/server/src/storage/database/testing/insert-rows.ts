import type { Insertable } from 'kysely';
import { createNewId } from '../../../platform/identifier.ts';
import type { CollectionTable, RecordTable } from '../collection-tables.ts';
import type { Database } from '../database.ts';

const newId = createNewId();
/** A project that does not exist. */
export const noProject = 'proj00000000000000000000';
const common = { project_id: noProject, metadata: '{}', status: 'ready', created_at: 1, updated_at: 1 } as const;

/** Inserts a text collection with these columns. Returns its id. */
export async function insertCollection(
  { write }: Database,
  columns: Partial<Insertable<CollectionTable>> = {},
): Promise<string> {
  const texts = { type: 'text', name: '', description: '', embedding_model_id: '' };
  const collection = { ...common, ...texts, id: newId('collection'), capacity: 1, ...columns };
  await write.insertInto('collection').values(collection).execute();
  return collection.id;
}

/** Inserts a record with these columns. Returns its id. */
export async function insertRecord(
  { write }: Database,
  collectionId: string,
  columns: Partial<Insertable<RecordTable>> = {},
): Promise<string> {
  const texts = { type: 'text', title: '', content: '', stage: 'done' };
  const counts = {
    percent: 100,
    generation: 1,
    num_chunks: 1,
    attempt: 0,
    source_bytes: 0,
    worked_ms: 0,
    metadata_changed: 0,
    metadata_reached: null,
  };
  const times = { run_after: 0, deadline_at: 0, claim_order: 0 };
  const place = { id: newId('record'), collection_id: collectionId };
  const record = { ...common, ...texts, ...counts, ...times, ...place, ...columns };
  await write.insertInto('record').values(record).execute();
  return record.id;
}
