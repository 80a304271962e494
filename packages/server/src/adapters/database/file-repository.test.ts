import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { sql } from 'kysely';
import { createTestDatabase } from '../../../../../test/support/postgres.ts';
import { describeFileRepository } from '../../files/file-repository.suite.ts';
import { describeIdempotencyRepository } from '../../idempotency/idempotency-repository.suite.ts';
import { createNewId } from '../../kernel/identifier.ts';
import { createLogger } from '../../kernel/logger.ts';
import type { Database } from './database.ts';
import { createFileRepository } from './file-repository.ts';
import { createIdempotencyRepository } from './idempotency-repository.ts';
import { createProjectUsageMigration } from './migrations/0019-project-usage.ts';
import { openDatabase } from './open-database.ts';

const logger = createLogger('silent');
const newId = createNewId();

async function openSqlite() {
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-files-'));
  const database = await openDatabase({ url: null, dataFolder: folder, logger });
  const release = async () => {
    await database.close();
    await rm(folder, { recursive: true });
  };
  return { database, release };
}

async function openPostgres() {
  const testing = await createTestDatabase();
  const database = await openDatabase({ url: testing.url, dataFolder: '/unused', logger });
  const release = async () => {
    await database.close();
    await testing.drop();
  };
  return { database, release };
}

async function addRecord({ write }: Database, projectId: string, fileId: string, status: string): Promise<string> {
  const [id, collection] = [newId('record'), newId('collection')];
  const common = { project_id: projectId, metadata: '{}', created_at: 1, updated_at: 1 };
  await write
    .insertInto('collection')
    .values({
      ...common,
      id: collection,
      type: 'text',
      name: '',
      description: '',
      capacity: 1,
      embedding_model_id: '',
      status: 'ready',
    })
    .execute();
  const numbers = { percent: 0, generation: 0, num_chunks: 0, attempt: 0, run_after: 0, deadline_at: 0 };
  const nothing = { url: null, text_splitter: null, error_code: null, error_message: null, report: null };
  const lease = { lease_owner: null, lease_until: null };
  const texts = { type: 'file', title: '', content: '', stage: 'queued', status };
  await write
    .insertInto('record')
    .values({ ...common, ...numbers, ...nothing, ...lease, ...texts, id, collection_id: collection, file_id: fileId })
    .execute();
  return id;
}

const databases = [
  ['SQLite', openSqlite],
  ['PostgreSQL', openPostgres],
] as const;

for (const [name, open] of databases) {
  describeFileRepository(name, async () => {
    const { database, release } = await open();
    return {
      files: createFileRepository(database),
      idempotency: createIdempotencyRepository(database),
      addRecord: (projectId, fileId, status) => addRecord(database, projectId, fileId, status),
      release,
    };
  });
  describeIdempotencyRepository(name, async () => {
    const { database, release } = await open();
    return { repository: createIdempotencyRepository(database), release };
  });
}

for (const [name, open] of databases) {
  test(`what files took before there was a sum is counted once: ${name}`, async (t) => {
    const { database, release } = await open();
    t.after(release);
    const files = createFileRepository(database);
    const file = (projectId: string, bytes: number) => {
      const [id, blobId] = [newId('file'), newId('blob')];
      const about = { name: 'a.txt', purpose: 'record_file', extension: 'txt', sha256: id, createdAt: 1 } as const;
      return { file: { id, blobId, projectId, bytes, ...about }, claim: null };
    };
    const gone = file('a', 7);
    await files.add([file('a', 5_000_000_000), file('a', 30), gone, file('b', 1)], { maxProjectBytes: null });
    await files.startDelete('a', gone.file.id);
    // As it was before the migration.
    await sql`drop table project_usage`.execute(database.write);
    await createProjectUsageMigration(database.dialect).up(database.write);
    const sums = await Promise.all(['a', 'b', 'c'].map((projectId) => files.bytesKept(projectId)));
    assert.deepEqual(sums, [5_000_000_030, 1, 0]);
  });
}
