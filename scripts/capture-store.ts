/**
 * Writes a small store with the code of an earlier commit: `node scripts/capture-store.ts <checkout> <folder>`. The
 * checkout has that commit and its node_modules. `test/acceptance/released-stores.test.ts` reads the files written to
 * the folder.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import pg from 'pg';
import { administrator, type SignedIn, setUp } from '../test/support/administrator.ts';
import { endedRun, settledRecord } from '../test/support/client.ts';
import { createTestDatabase, postgresPrograms } from '../test/support/postgres.ts';
import * as documents from '../test/support/released-documents.ts';
import {
  ask,
  execute,
  hashOf,
  lookAround,
  packFolder,
  type Question,
  type ReleasedStore,
  releasedSettings,
  startUpstream,
  withProfile,
} from '../test/support/released-store.ts';
import { type Ending, type StartedService, startService } from '../test/support/service.ts';

const run = promisify(execFile);

/** Creates text records, sheets, chunks and files of every kind in the project of `key`. */
async function fillStores({ filesUrl, client }: StartedService): Promise<Question[]> {
  const upload = (name: string, bytes: Uint8Array | string) => {
    const purpose = /\.(csv|xlsx)$/.test(name) ? ('qa_record_file' as const) : ('record_file' as const);
    return client.files.upload(new Blob([bytes as string]), { purpose, name });
  };
  const text = await client.collections.create({ name: 'Handbook', description: 'Texts', metadata: { team: 'ops' } });
  const pairs = await client.collections.create({ name: 'Questions', type: 'qa', capacity: 500 });
  const settled = async (collectionId: string, body: Parameters<typeof client.records.create>[1]) => {
    const { record_id } = await client.records.create(collectionId, body);
    const record = await settledRecord(client, collectionId, record_id);
    assert.ok(['ready', 'partial'].includes(record.status), JSON.stringify(record));
  };
  for (const [name, bytes] of Object.entries(documents.files)) {
    const { file_id } = await upload(name, bytes);
    const isSheet = /\.(csv|xlsx)$/.test(name);
    const body = { file_id, title: name, metadata: { source: name } };
    if (isSheet) await settled(pairs.collection_id, { ...body, type: 'qa_sheet', on_duplicate: 'skip' });
    else await settled(text.collection_id, { ...body, type: 'file' });
  }
  await upload('nobody-reads-it.txt', 'A file without a record.');
  await client.files.delete((await upload('deleted.txt', 'A file that is deleted.')).file_id);
  for (const [title, content] of Object.entries(documents.texts)) {
    await settled(text.collection_id, { type: 'text', title, content, metadata: { source: 'typed' } });
  }
  const splitter = { type: 'separator' as const, separators: ['---'] };
  await settled(text.collection_id, { type: 'text', content: documents.cutText, text_splitter: splitter });
  const { record_id } = await client.records.create(text.collection_id, { type: 'text', content: 'Soon deleted.' });
  await settledRecord(client, text.collection_id, record_id);
  await client.records.delete(text.collection_id, record_id);
  for (const content of documents.directChunks) {
    const url = `${filesUrl}/v1/collections/${text.collection_id}/chunks`;
    const body = { content, metadata: { direct: true } };
    assert.equal((await ask(url, currentKey, { method: 'POST', body })).status, 200);
  }
  return documents.questions.map(({ of, query }) => ({
    collectionId: of === 'text' ? text.collection_id : pairs.collection_id,
    query,
  }));
}

let currentKey = '';

/** Starts synchronous and asynchronous runs that succeed and fail, and one with a stored profile. */
async function runPlugins({ pluginsUrl, client, key }: StartedService): Promise<void> {
  const calculate = (expression: string) => ({
    bundle_id: 'calculator',
    plugin_id: 'evaluate',
    input_params: { expression },
    credentials: {},
  });
  await execute(pluginsUrl, key, calculate('6 * 7'));
  await execute(pluginsUrl, key, calculate('1 / 0'));
  for (const expression of ['2 ** 64', '1 / 0']) {
    const accepted = await client.plugins.start('calculator/evaluate', { expression });
    await endedRun(client, accepted.run_id);
  }
  const profile = { name: 'production', bundle_id: 'released', credentials: { KEY: 'token-of-the-released-store' } };
  const createdProfile = await ask(`${pluginsUrl}/v1/credential_profiles`, key, { method: 'POST', body: profile });
  assert.equal(createdProfile.status, 200, JSON.stringify(createdProfile.body));
  assert.match(
    JSON.stringify(await execute(pluginsUrl, key, withProfile)),
    new RegExp(hashOf('Bearer token-of-the-released-store')),
  );
}

async function createKeys({ filesUrl, key }: StartedService, administrator: SignedIn): Promise<ReleasedStore['keys']> {
  const projects = await ask(`${filesUrl}/v1/projects`, key);
  const [{ project_id: first }] = projects.body.data as [{ project_id: string }];
  const added = await administrator.ask('POST', '/v1/projects', { body: { name: 'second' } });
  const { project_id: second } = ((await added.json()) as { data: { project_id: string } }).data;
  const create = async (projectId: string, name: string, scopes: readonly string[]) => {
    const created = await administrator.ask('POST', `/v1/projects/${projectId}/keys`, { body: { name, scopes } });
    return ((await created.json()) as { data: { key: string; key_id: string } }).data;
  };
  const revoked = await create(first, 'revoked', ['files']);
  await ask(`${filesUrl}/v1/projects/${first}/keys/${revoked.key_id}`, key, { method: 'DELETE' });
  return {
    first: key,
    filesOnly: (await create(first, 'files only', ['files'])).key,
    revoked: revoked.key,
    second: (await create(second, 'of the second project', ['files', 'collections'])).key,
  };
}

/** Packs, signs, trusts and installs a bundle with the commands of the checkout. */
async function installBundle(checkout: string, data: string, folder: string): Promise<void> {
  const source = join(folder, 'released');
  await mkdir(source, { recursive: true });
  for (const [name, value] of Object.entries(documents.bundle)) {
    await writeFile(join(source, name), JSON.stringify(value));
  }
  const quartermaster = async (...args: string[]) => {
    const command = [join(checkout, 'packages/cli/src/main.ts'), 'bundle', ...args];
    const env = { PATH: process.env.PATH ?? '', QUARTERMASTER_DATA: data };
    return (await run(process.execPath, command, { env })).stdout.trim();
  };
  const publisher = await quartermaster('keygen', join(folder, 'key.pem'));
  const archive = await quartermaster('pack', source, '--key', join(folder, 'key.pem'), '--out', folder);
  await quartermaster('trust', publisher, '--name', 'Example');
  await quartermaster('install', archive);
}

/** Excludes files that a start writes again or that exist only while the service runs. */
const isKept = (path: string) => !/^(cache|staging)(\/|$)|setup-link|first-key|\.lock$|^lock/.test(path);

async function capture(t: Ending, checkout: string, databaseUrl: string | null) {
  const work = await mkdtemp(join(tmpdir(), 'quartermaster-capture-'));
  t.after(() => rm(work, { recursive: true }));
  const folder = join(work, 'data');
  await mkdir(folder);
  await installBundle(checkout, folder, work);
  const upstream = await startUpstream(t);
  const settings = { ...releasedSettings(upstream), ...(databaseUrl === null ? {} : { DATABASE_URL: databaseUrl }) };
  const launcher = ['/bin/sh', '-c', `cd '${checkout}' && exec "$@"`, 'sh'];
  const start = (key?: string) =>
    startService(t, { folder, settings, launcher, ...(key === undefined ? {} : { key }) });
  const filled = await start();
  currentKey = filled.key;
  const keys = await createKeys(filled, await setUp(filled));
  const questions = await fillStores(filled);
  await ask(`${filled.filesUrl}/v1/collections`, keys.second, { method: 'POST', body: { name: 'Of the second' } });
  await runPlugins(filled);
  assert.equal(await filled.stop(), 0);
  const again = await start(keys.first);
  const store = { keys, administrator, questions };
  const found = await lookAround(again, store);
  assert.equal(await again.stop(), 0);
  return { folder, store: { ...store, found } satisfies ReleasedStore };
}

/** Extends the life of asynchronous results beyond one day, so that the tests always find them. */
const keepResults = 'update run_result set expires_at = 4102444800000';

/** Dumps the database as SQL without commands of psql, so that any client can run it. */
async function dump(url: string): Promise<string> {
  const args = ['--no-owner', '--no-privileges', '--inserts', '--rows-per-insert=200', `--dbname=${url}`];
  const { stdout } = await run(join(await postgresPrograms(), 'pg_dump'), args, { maxBuffer: 2 ** 26 });
  return stdout.replace(/^\\(un)?restrict .*\n/gm, '');
}

const [checkout = '', target = ''] = process.argv.slice(2).map((path) => resolve(path));
const ends: Array<() => unknown> = [];
const t: Ending = { after: (end) => ends.push(end) };
try {
  await mkdir(target, { recursive: true });
  const sqlite = await capture(t, checkout, null);
  const file = new DatabaseSync(join(sqlite.folder, 'quartermaster.db'));
  file.exec(keepResults);
  file.close();
  await writeFile(join(target, 'sqlite.json.gz'), await packFolder(sqlite.folder, isKept));
  const database = await createTestDatabase();
  t.after(() => database.drop());
  const postgres = await capture(t, checkout, database.url);
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(keepResults);
  await client.end();
  await writeFile(join(target, 'postgres.json.gz'), await packFolder(postgres.folder, isKept));
  await writeFile(join(target, 'postgres.sql'), await dump(database.url));
  const known = { sqlite: sqlite.store, postgres: postgres.store };
  await writeFile(join(target, 'expected.json'), `${JSON.stringify(known, null, 2)}\n`);
} finally {
  for (const end of ends.reverse()) await end();
}
