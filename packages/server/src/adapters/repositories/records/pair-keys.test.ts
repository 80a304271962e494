import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { claimAt, newChunk, newCollection, newRecord, start } from '../../../collections/testing/fixtures.suite.ts';
import type { Database } from '../../database/database.ts';
import { createPairKeysMigration } from '../../database/migrations/0021-pair-keys.ts';
import { temporaryDatabases } from '../../database/testing/temporary-databases.ts';
import { createCollectionRepository } from './collection-repository.ts';
import { createRecordJobRepository } from './record-job-repository.ts';
import { createRecordRepository } from './record-repository.ts';

/** Restores the schema from before the migration. */
async function createOldSchema({ write }: Database): Promise<void> {
  const statements = [
    'drop table pair_key',
    'alter table record drop column keyed_to',
    'create index chunk_of_row on chunk (collection_id, row_key) where row_key is not null',
  ];
  for (const statement of statements) await sql.raw(statement).execute(write);
}

/** Creates a record with these keys in the collection. Its chunks are written but not yet visible. */
async function createPairs(database: Database, collection: ReturnType<typeof newCollection>, keys: readonly string[]) {
  const jobs = createRecordJobRepository(database);
  await createRecordRepository(database).add(newRecord(collection));
  const job = await jobs.claim(claimAt(start));
  assert.ok(job, 'there is a record to claim');
  const chunks = keys.map((rowKey, ordinal) => newChunk(rowKey, { ordinal, rowKey }));
  await jobs.addChunks(job, chunks);
  return { jobs, job, publication: { status: 'ready', numChunks: keys.length, report: {}, now: start } as const };
}

for (const [name, open] of Object.entries(temporaryDatabases)) {
  test(`the migration keeps the keys of existing pairs, including those of a record in progress: ${name}`, async (t) => {
    const { database, close } = await open();
    t.after(close);
    const [mine, other] = [newCollection(), newCollection()];
    for (const each of [mine, other]) await createCollectionRepository(database).add(each, 10);
    const first = await createPairs(database, mine, ['abcdefghijklmnopqrstuv', 'short']);
    await first.jobs.publish(first.job, first.publication);
    const strange = await createPairs(database, other, ['of another collection']);
    await strange.jobs.publish(strange.job, strange.publication);
    const second = await createPairs(database, mine, ['unfinished']);
    await second.jobs.saveCheckpoint(second.job, second.publication);

    await createOldSchema(database);
    await database.write.transaction().execute((trx) => createPairKeysMigration(database.dialect).up(trx));
    const keys = ['abcdefghijklmnopqrstuv', 'abcdef', 'short', 'of another collection', 'unfinished'];
    const existingKeys = async () =>
      [...(await first.jobs.findExistingKeys({ collectionId: mine.id, id: null }, keys))].sort();
    assert.deepEqual(await existingKeys(), ['abcdefghijklmnopqrstuv', 'short']);
    await second.jobs.publish(second.job, second.publication);
    assert.deepEqual(await existingKeys(), ['abcdefghijklmnopqrstuv', 'short', 'unfinished']);
  });
}
