import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { createApiKey, hashApiKey } from '../../access/projects/api-key.ts';
import { openKeyRing } from '../../access/projects/key-ring.ts';
import type { StoredKey } from '../../access/projects/project-repository.ts';
import { createLogger } from '../../platform/log/logger.ts';
import { noFileLimits } from '../../stores/files/file-repository.ts';
import type { Database } from '../database/database.ts';
import { findDeleted } from '../database/deleted-projects.ts';
import { tableNames } from '../database/table-names.ts';
import { fillProject, readRows, tablesOfStore } from '../database/testing/project-rows.fixture.ts';
import { temporaryDatabases } from '../database/testing/temporary-databases.ts';
import { createBlobRepository } from './blob-repository.ts';
import { createCredentialProfileRepository } from './credential-profile-repository.ts';
import { createFileRepository } from './file-repository.ts';
import { createIdempotencyRepository } from './idempotency-repository.ts';
import { createProjectDeletionRepository } from './project-deletions.ts';
import { createProjectRepository } from './project-repository.ts';
import { createCollectionRepository } from './records/collection-repository.ts';
import { createRunRepository } from './run-repository.ts';

const now = () => 1_763_715_824_000;
const signal = new AbortController().signal;
const logger = createLogger('silent');
const untouched = { eraseBlob: async () => {}, now, signal };

async function open(t: TestContext, name: keyof typeof temporaryDatabases) {
  const { database, close } = await temporaryDatabases[name]();
  t.after(close);
  return { database, deletions: createProjectDeletionRepository(database) };
}

for (const name of ['SQLite', 'PostgreSQL'] as const) {
  test(`a deletion leaves no row of its project in any table, and every row of the others: ${name}`, async (t) => {
    const { database, deletions } = await open(t, name);
    await fillProject(database, 'other');
    const before = { ...(await readRows(database)), record_turn: [] };
    const filled = await fillProject(database, 'gone', 1_100);
    const unfilled = tableNames.filter((table) => !filled.has(table) && !tablesOfStore.has(table));
    assert.deepEqual(unfilled, [], 'fillProject has no row of these tables, which may belong to a project');

    const erased: string[] = [];
    await deletions.begin('gone', now());
    const eraseBlob = async (blobId: string) => void erased.push(blobId);
    // Two processes delete at the same time, such as a service and a command.
    const erase = () => deletions.erase('gone', { ...untouched, eraseBlob });
    const [{ deleted, steps, endedAt }] = await Promise.all([erase(), erase()]);
    assert.deepEqual(await readRows(database), before);
    assert.equal(new Set(erased).size, 1_100);
    assert.deepEqual(
      deleted,
      {
        ...{ collections: 2, records: 2, chunks: 2, files: 0, artifacts: 1_100, bytes: 1_100, runs: 1_100 },
        ...{ credential_profiles: 2, keys: 1_100 },
      },
      'the report',
    );
    assert.equal(endedAt, now());
    assert.ok(steps > 20, `${steps} steps`);
  });

  test(`a deletion that is interrupted before or after any commit continues, and counts each row once: ${name}`, async (t) => {
    const { database, deletions } = await open(t, name);
    const before = await readRows(database);
    await fillProject(database, 'gone');
    await deletions.begin('gone', now());
    const blobs = new Set<string>();
    const eraseBlob = async (blobId: string) => void blobs.add(blobId);
    const contents = createBlobRepository(database);
    let kills = 0;
    for (let isDone = false; !isDone; ) {
      // Each attempt comes one transaction further than the one before it, or commits the last one of that.
      const point = { nth: Math.floor(kills / 2) + 1, isUndone: kills % 2 === 0 };
      const interrupted = createProjectDeletionRepository(interrupt(database, point));
      // As the start of a service does it.
      for (const id of await contents.replacedBlobs(1)) {
        blobs.add(id);
        await contents.forgetReplaced(id);
      }
      isDone = await interrupted.erase('gone', { ...untouched, eraseBlob }).then(
        () => true,
        (error: Error) => {
          assert.equal(error.message, 'interrupted');
          kills += 1;
          return false;
        },
      );
    }
    assert.deepEqual(await readRows(database), before);
    const [report] = await deletions.list();
    assert.equal(blobs.size, 2);
    const { files, artifacts, ...others } = report?.deleted ?? assert.fail('no report');
    assert.deepEqual([files, artifacts], [0, 2]);
    assert.deepEqual([...new Set(Object.values(others))], [2]);
    assert.ok(kills > 30, `${kills} interruptions`);
    assert.deepEqual(await deletions.findRunning(), []);
  });

  test(`from the begin of a deletion on, nothing can be added to the project: ${name}`, async (t) => {
    const { database, deletions } = await open(t, name);
    const { write, dialect } = database;
    await write.insertInto('project').values({ id: 'gone', name: 'tea', created_at: 1 }).execute();
    const before = await readRows(database);
    // A writer that has come before the deletion delays its begin.
    let begun: Promise<unknown> | undefined;
    await write.transaction().execute(async (transaction) => {
      assert.equal((await findDeleted(transaction, dialect, ['gone'])).size, 0);
      begun = deletions.begin('gone', now());
      await sql`insert into input_keeper (project_id) values ('gone')`.execute(transaction);
    });
    await begun;
    await addEverything(database);
    assert.equal((await deletions.begin('gone', now() + 1))?.begunAt, now(), 'a repetition');
    assert.equal((await deletions.erase('gone', untouched)).name, 'tea');
    assert.equal(await createProjectRepository(database).findProject('gone'), undefined);
    await addEverything(database);
    assert.deepEqual(
      { ...(await readRows(database)), project: [] },
      { ...before, project: [] },
      'a late writer has left a row',
    );
    assert.equal(await deletions.begin('unknown', now()), undefined);
  });

  test(`a process refuses the keys of a deleted project, also when their rows were deleted before it looked: ${name}`, async (t) => {
    const { database, deletions } = await open(t, name);
    const repository = createProjectRepository(database);
    const [key, text] = newKey();
    await repository.addProject({ id: 'gone', name: 'tea', createdAt: 1 }, { most: 10, key });
    const ring = await openKeyRing({ repository, clock: { now }, logger, refreshMs: 2 ** 30 });
    assert.equal((await ring.authenticate(`Bearer ${text}`)).projectId, 'gone');
    await deletions.begin('gone', now());
    await deletions.erase('gone', untouched);
    await ring.refresh();
    await assert.rejects(ring.authenticate(`Bearer ${text}`), { code: 'APIKEY_VALIDATION_FAILED' });
    await ring.close();
  });
}

test('contents that cannot be erased stay in the report of the next attempt and delay no others', async (t) => {
  const { database, deletions } = await open(t, 'SQLite');
  await fillProject(database, 'gone', 3);
  await deletions.begin('gone', now());
  const failing = async (blobId: string) => {
    if (blobId.endsWith('-1')) throw new Error('the disk has a fault');
  };
  await assert.rejects(deletions.erase('gone', { ...untouched, eraseBlob: failing }), /the disk has a fault/);
  assert.equal((await database.read.selectFrom('blob').select('id').execute()).length, 1);
  assert.deepEqual(await deletions.findRunning(), ['gone']);
  assert.equal((await deletions.erase('gone', untouched)).deleted.bytes, 3);
});

function newKey(): [StoredKey, string] {
  const text = createApiKey();
  const times = { createdAt: 1, expiresAt: null, revokedAt: null, lastUsedAt: null };
  const key = { id: 'key', projectId: 'gone', name: 'k', hash: hashApiKey(text), hint: '', scopes: [], makerId: null };
  return [{ ...key, ...times, collections: null, tools: null, replaced: [] }, text];
}

interface Point {
  readonly nth: number;
  readonly isUndone: boolean;
}

/** Fails in the nth transaction, which is undone, or after its commit. */
function interrupt(database: Database, { nth, isUndone }: Point): Database {
  let count = 0;
  const transaction = () => ({
    execute: async (work: (transaction: unknown) => Promise<unknown>) => {
      count += 1;
      if (count > nth) throw new Error('interrupted');
      return database.write.transaction().execute(async (own) => {
        const result = await work(own);
        if (isUndone && count === nth) throw new Error('interrupted');
        return result;
      });
    },
  });
  const write = new Proxy(database.write, {
    get(target, name) {
      if (name === 'transaction') return transaction;
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  return { ...database, write };
}

/** Adds one of everything that a request adds to the project. Each must be refused or left out. */
async function addEverything(database: Database): Promise<void> {
  const notFound = { code: 'OBJECT_NOT_FOUND' };
  const at = { createdAt: 1, updatedAt: 1 };
  const [projectId, id] = ['gone', 'late'];
  const file = { id, projectId, blobId: 'late', name: 'a.txt', bytes: 1, sha256: 'a', createdAt: 1 } as const;
  const upload = { file: { ...file, purpose: 'record_file', extension: 'txt' }, claim: null } as const;
  const artifact = { file: { ...file, keyId: null, runId: 'r', mediaType: 'a/b', expiresAt: 2 }, claim: null } as const;
  const added = await createFileRepository(database).add([upload, artifact], noFileLimits, async () => true);
  assert.deepEqual(added, [{ kind: 'no_project' }, { kind: 'no_project' }]);
  const texts = {
    name: 'n',
    type: 'text',
    description: '',
    embeddingModelId: '',
    retrieval: {},
    chunking: {},
  } as const;
  const collection = { id, projectId, ...texts, capacity: 1, embeddingPaused: false, metadata: {}, ...at };
  await assert.rejects(createCollectionRepository(database).add(collection, 10), notFound);
  const profile = { id, projectId, bundleId: 'b', name: 'n', encrypted: 'x', keyId: 'k', connection: null, ...at };
  await assert.rejects(createCredentialProfileRepository(database).add(profile, 10), notFound);
  const projects = createProjectRepository(database);
  await assert.rejects(projects.addKey(newKey()[0], { now: 1, most: 10 }), notFound);
  assert.equal(await projects.setRunInputs(projectId, 'keep'), false);
  const claim = { projectId, operation: 'upload', key: 'k', callerId: 'c', heldUntil: 10 } as const;
  const claimed = await createIdempotencyRepository(database).claim({ ...claim, nodeId: null, isRepeatable: true }, 1);
  assert.deepEqual(claimed, { kind: 'running', elsewhere: false });
  const runs = createRunRepository(database);
  const run = { id, projectId, bundleId: 'b', pluginId: 'p', origin: 'http', isolation: 'none', createdAt: 1 } as const;
  const waiting = { ...run, asynchronous: true, begunAt: null, lease: null, end: null } as never;
  await runs.add([runs.pack(waiting)]);
  const request = { text: '{}', isEncrypted: false, isRepeatable: true };
  const accepted = await runs.accept([{ run: waiting, keyId: null, request, claim: null }], { owner: 'o', at: 1 });
  assert.deepEqual(accepted, [false]);
  await database.write.deleteFrom('process').execute();
}
