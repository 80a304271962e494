import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from '../../packages/server/src/platform/testing/until.ts';
import { type SignedIn, setUp, signedIn } from '../support/administrator.ts';
import { settledRecord } from '../support/client.ts';
import { startEmbeddingService } from '../support/embedding-service.ts';
import { send, serve } from '../support/http.ts';
import { killedMove, move } from '../support/move.ts';
import { launcherOf, startStorage } from '../support/object-storage.ts';
import { databaseFor } from '../support/postgres.ts';
import { runCommand } from '../support/run-command.ts';
import { writeSchemeBundles } from '../support/scheme-bundles.ts';
import { type StartedService, startService, temporaryFolder } from '../support/service.ts';

/** Fills a store with rows of most tables. @returns the ids that `answersOf` asks for */
async function fill(service: StartedService) {
  const { client, key } = service;
  const texts = ['Green tea is steeped at seventy degrees.', 'x'.repeat(17_000_000)];
  const files: string[] = [];
  for (const [index, text] of texts.entries()) {
    const name = `tea-${index}.txt`;
    files.push((await client.files.upload(new Blob([text]), { purpose: 'record_file', name })).file_id);
  }
  const { collection_id: tea } = await client.collections.create({ name: 'tea', type: 'text' });
  const { collection_id: pairs } = await client.collections.create({ name: 'pairs', type: 'qa' });
  const csv = new Blob(['question,answer\nHow hot is tea?,Seventy degrees\nWhere is Uji?,In Japan\n']);
  const sheet = await client.files.upload(csv, { purpose: 'qa_record_file', name: 'pairs.csv' });
  const records = [
    { collection: tea, body: { type: 'file', file_id: files[0] } },
    { collection: tea, body: { content: 'The night train to Vienna.' } },
    { collection: pairs, body: { type: 'qa_sheet', file_id: sheet.file_id } },
  ];
  for (const { collection, body } of records) {
    const { record_id: id } = await client.records.create(collection, body as never);
    await settledRecord(client, collection, id);
  }
  await until(async () => (await client.collections.get(tea)).vectors === 'current');
  await until(async () => (await client.collections.get(pairs)).vectors === 'current');
  const execute = async (json: object) => (await send(`${service.pluginsUrl}/v1/execute`, { key, json })).body.data;
  const input_params = { text: 'https://example.com/' };
  const qr = { bundle_id: 'qr_code_generator', plugin_id: 'generate_qr_code', input_params, credentials: {} };
  const { artifacts } = await execute(qr);
  const credentials = { KEY: 'a-secret-of-a-third-party' };
  const profile = { name: 'mine', bundle_id: 'bearer', credentials };
  const stored = await send(`${service.pluginsUrl}/v1/credential_profiles`, { key, json: profile });
  assert.equal(stored.status, 200, stored.text);
  return { files, tea, pairs, artifact: artifacts[0].artifact_id as string };
}

type Ids = Awaited<ReturnType<typeof fill>>;

/** What a store answers to every kind of question. Times of the last use differ, and so do ids of requests. */
async function answersOf(service: StartedService, admin: SignedIn, { files, tea, pairs, artifact }: Ids) {
  const { filesUrl, pluginsUrl, key } = service;
  const answers: Record<string, unknown> = {};
  for (const path of ['/v1/files', `/v1/files/${files[0]}`, '/v1/collections', '/v1/key', '/v1/limits']) {
    answers[path] = (await send(filesUrl + path, { key })).body;
  }
  for (const id of files) {
    const { text } = await send(`${filesUrl}/v1/files/${id}/content`, { key });
    answers[id] = createHash('sha256').update(text).digest('hex');
  }
  for (const [collection, query_text] of [
    [tea, 'a hot beverage'],
    [tea, 'train vienna'],
    [pairs, 'How hot is tea'],
  ] as const) {
    for (const path of ['', '/records', '/chunks']) {
      answers[`${collection}${path}`] = (await send(`${filesUrl}/v1/collections/${collection}${path}`, { key })).body;
    }
    const json = { query_text, top_k: 3, explain: true };
    const { body } = await send(`${filesUrl}/v1/collections/${collection}/chunks/query`, { key, json });
    assert.ok(body.data.length > 0, query_text);
    answers[query_text] = body;
  }
  for (const path of ['/v1/runs', '/v1/credential_profiles']) {
    answers[path] = (await send(pluginsUrl + path, { key })).body;
  }
  answers.artifact = (await send(`${pluginsUrl}/v1/artifacts/${artifact}`, { key })).body;
  for (const path of ['/v1/projects', '/v1/accounts', '/v1/sessions', '/v1/audit_events?limit=100']) {
    answers[path] = await (await admin.ask('GET', path)).json();
  }
  const varying =
    /^(last_used_at|last_sign_in_at|idle_until|expires_at|file_url|url|request_id|last_used_timestamp|idle_expires_timestamp|configured_dimensions)$/;
  return JSON.parse(JSON.stringify(answers, (name, value) => (varying.test(name) ? undefined : value)));
}

/** Runs a plugin with stored credentials, which only the same encryption key can read. */
async function useProfile({ pluginsUrl, key }: StartedService): Promise<void> {
  const used = { bundle_id: 'bearer', plugin_id: 'ask', input_params: { mode: 'ok', q: 'x' } };
  const sent = await send(`${pluginsUrl}/v1/execute`, { key, json: { ...used, credentials: { $profile: 'mine' } } });
  assert.equal(sent.body.data.status, 200, sent.text);
}

/** Hashes every file of a folder, without what SQLite creates to read. */
async function hashesOf(folder: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || /-(shm|wal)$|^moved\.json$/.test(entry.name)) continue;
    const path = join(entry.parentPath, entry.name);
    found[path] = createHash('sha256')
      .update(await readFile(path))
      .digest('hex');
  }
  return found;
}

test('[move] a store moves from a laptop to PostgreSQL and object storage and back, and every answer is the same', async (t) => {
  const storage = await startStorage(t);
  const [bundles, parent] = [await temporaryFolder(t), await temporaryFolder(t)];
  await writeSchemeBundles(bundles);
  const upstream: Array<string | undefined> = [];
  const origin = await serve(t, (request, response) => {
    upstream.push(request.headers.authorization);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":1}');
  });
  const embed = (text: string) => [/tea|beverage/i.test(text) ? 1 : -0.2, /train/i.test(text) ? 1 : -0.2, 0.1];
  const { url } = await startEmbeddingService(t, { embed });
  const same = {
    BUNDLES: bundles,
    EGRESS_OVERRIDES: JSON.stringify({ 'https://api.example.com': origin }),
    ISOLATION: 'process',
    EMBEDDING_PROVIDER: 'openai',
    EMBEDDING_URL: url,
    EMBEDDING_KEY: 'none',
  };
  const laptop = await startService(t, { folder: join(parent, 'data'), settings: same });
  const { key } = laptop;
  const admin = await setUp(laptop);
  const ids = await fill(laptop);
  const before = await answersOf(laptop, admin, ids);

  const database = new URL(await databaseFor(t));
  database.password = 'pass-word-5c1';
  const settings = { DATA: laptop.folder, DATABASE_URL: database.href, BLOBS: 's3://store/moved' };
  const inUse = await move(settings, storage.environment, '--to-postgres', '--to-blobs');
  assert.match(inUse.errors, /is in use by another process/);
  assert.equal(await laptop.stop(), 0);
  const untouched = await hashesOf(laptop.folder);
  const copy = join(parent, 'copy');
  await cp(laptop.folder, copy, { recursive: true });
  const moved = await move(settings, storage.environment, '--to-postgres', '--to-blobs');
  assert.equal(moved.code, 0, moved.errors);
  const report = JSON.parse(moved.output);
  assert.deepEqual([report.faults, report.content], [[], 's3://store/moved']);
  assert.doesNotMatch(moved.output + moved.errors, /pass-word/);
  assert.deepEqual(await hashesOf(laptop.folder), untouched);
  assert.deepEqual(
    (await readdir(report.folder)).filter((name) => /unfinished|blobs/.test(name)),
    [],
  );
  const onLaptop = startService(t, { folder: laptop.folder, settings: same });
  await assert.rejects(
    onLaptop,
    /The store in \S+ was moved to PostgreSQL \S+, with the content in s3:\/\/store\/moved/,
  );
  // Two stores of one id could share the place, and delete objects of each other.
  for (const folder of [[], ['--to-folder', join(await temporaryFolder(t), 'second')]]) {
    const again = await move({ ...settings, DATABASE_URL: '' }, storage.environment, '--to-blobs', ...folder);
    assert.match(again.errors, /was moved to .* delete \S+moved\.json/);
  }
  const ofCopy = await move({ ...settings, DATA: copy, DATABASE_URL: '' }, storage.environment, '--to-blobs');
  assert.match(ofCopy.errors, /s3:\/\/store\/moved belongs to another store/);
  assert.ok(!(await readdir(parent)).includes('copy-moved'));

  const launcher = launcherOf(storage.environment);
  const nodeSettings = { ...same, ...settings, SEALING_KEY_FILE: join(report.folder, 'encryption-key') };
  const node = await startService(t, {
    folder: report.folder,
    key,
    launcher,
    settings: { ...nodeSettings, DATA: report.folder },
  });
  assert.deepEqual(await answersOf(node, await signedIn(node, admin), ids), before);
  await useProfile(node);
  assert.equal(upstream.at(-1), 'Bearer a-secret-of-a-third-party');
  await node.client.files.upload(new Blob(['of the node']), { purpose: 'record_file', name: 'node.txt' });
  const onNode = await answersOf(node, await signedIn(node, admin), ids);
  assert.equal(await node.stop(), 0);

  const folder = join(parent, 'back');
  const back = await move({ ...settings, DATA: report.folder }, storage.environment, '--to-folder', folder);
  assert.equal(back.code, 0, back.errors);
  await rm(bundles, { recursive: true });
  await writeSchemeBundles(bundles);
  const home = await startService(t, { folder, key, settings: same });
  assert.deepEqual(await answersOf(home, await signedIn(home, admin), ids), onNode);
  await useProfile(home);
  const checked = await runCommand({ folder, settings: {} }, 'fsck', '--hash');
  assert.equal(checked.code, 0, checked.output);
  assert.equal(await home.stop(), 0);
});

test('[move] a move that is killed continues, its target does not start before it ends, and the source may change in between', async (t) => {
  const storage = await startStorage(t);
  const { environment } = storage;
  const parent = await temporaryFolder(t);
  const data = join(parent, 'data');
  const service = await startService(t, { folder: data });
  const upload = (to: StartedService, name: string) =>
    to.client.files.upload(new Blob([name.repeat(500)]), { purpose: 'record_file', name });
  const ids: string[] = [];
  for (let nth = 0; nth < 20; nth += 1) ids.push((await upload(service, `file-${nth}.txt`)).file_id);
  assert.equal(await service.stop(), 0);
  const settings = { DATA: data, DATABASE_URL: await databaseFor(t), BLOBS: 's3://store/moved' };
  // At the second one, some of the objects that are sent at the same time have arrived.
  for (const at of [2, 18]) {
    await killedMove(storage, { settings, environment, args: ['--to-blobs', '--to-postgres'], at });
    const target = { folder: `${data}-moved`, settings: { ...settings, DATA: `${data}-moved` } };
    const start = startService(t, { ...target, launcher: launcherOf(environment) });
    await assert.rejects(start, /The database holds a store that .+ has not copied completely/);
    const again = await startService(t, { folder: data });
    ids.push((await upload(again, `after-${at}.txt`)).file_id);
    await again.client.files.delete(ids.shift() ?? '');
    assert.equal(await again.stop(), 0);
  }
  const puts = storage.seen.filter(({ method, path }) => method === 'PUT' && path.includes('/blobs/')).length;
  const moved = await move(settings, environment, '--to-postgres', '--to-blobs');
  assert.equal(moved.code, 0, moved.errors);
  const more = storage.seen.filter(({ method, path }) => method === 'PUT' && path.includes('/blobs/')).length - puts;
  assert.ok(more > 0 && more < ids.length, `${more} objects were sent again`);
  const { folder } = JSON.parse(moved.output);
  const target = { folder, key: service.key, settings: { ...settings, DATA: folder } };
  const node = await startService(t, { ...target, launcher: launcherOf(environment) });
  const listed = await node.client.files.list({ limit: 100 });
  assert.deepEqual(listed.data.map(({ file_id }) => file_id).sort(), ids.sort());
  for (const id of ids)
    assert.match(await (await node.client.files.content(id)).text(), /^((file|after)-\d+.txt){500}$/);
  assert.equal(await node.stop(), 0);
});

test('[move] damaged and missing content of the source is named, and the move ends only when it may leave it out', async (t) => {
  const parent = await temporaryFolder(t);
  const data = join(parent, 'data');
  const service = await startService(t, { folder: data });
  const upload = (name: string) =>
    service.client.files.upload(new Blob([name]), { purpose: 'record_file', name: `${name}.txt` });
  const [hurt, lost, whole] = [await upload('hurt'), await upload('lost'), await upload('whole')];
  assert.equal(await service.stop(), 0);
  for (const entry of await readdir(join(data, 'blobs'), { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const text = entry.isFile() ? await readFile(path, 'utf8') : '';
    if (text === 'hurt') await writeFile(path, 'hirt');
    if (text === 'lost') await rm(path);
  }
  const folder = join(parent, 'new');
  const to = ['--to-folder', folder, '--to-postgres', await databaseFor(t)];
  const refused = await move({ DATA: data }, {}, ...to);
  assert.equal(refused.code, 1);
  assert.match(refused.errors, /The content of 2 files of the source is missing or damaged/);
  assert.match(refused.errors, new RegExp(`hurt.txt.{1,2} \\(${hurt.file_id}, \\S+: content differs`));
  assert.match(refused.errors, new RegExp(`lost.txt.{1,2} \\(${lost.file_id}, \\S+: bytes missing`));
  const still = await startService(t, { folder: data });
  assert.equal(await still.stop(), 0);
  const moved = await move({ DATA: data }, {}, ...to, '--damaged');
  assert.equal(moved.code, 1, moved.errors);
  assert.equal(JSON.parse(moved.output).faults.length, 2);
  const node = await startService(t, { folder, key: service.key, settings: { DATABASE_URL: to.at(-1) ?? '' } });
  assert.equal(await (await node.client.files.content(whole.file_id)).text(), 'whole');
  assert.equal(await node.stop(), 0);
});

test('[move] a store with another database, a used folder, a used place and a missing URL are refused, and no password is printed', async (t) => {
  const parent = await temporaryFolder(t);
  const data = join(parent, 'data');
  const service = await startService(t, { folder: data });
  assert.equal(await service.stop(), 0);
  const refusals: ReadonlyArray<readonly [RegExp, ...string[]]> = [
    [/--to-postgres needs a URL/, '--to-postgres'],
    [/--to-blobs needs a URL/, '--to-blobs'],
    [/is inside the data folder/, '--to-folder', join(data, 'new')],
    [/is not empty, and it does not hold/, '--to-folder', data],
    [/is not empty, and it does not hold/, '--to-folder', parent],
    [/QUARTERMASTER_DATABASE_URL must/, '--to-postgres', 'mysql://ada:pass-word-5c1@host/x'],
    [/PostgreSQL cannot be reached/, '--to-postgres', 'postgres://ada:pass-word-5c1@127.0.0.1:1/x'],
    [/set AWS_ACCESS_KEY_ID, too/, '--to-blobs', 's3://store/x'],
  ];
  for (const [reason, ...args] of refusals) {
    const { code, output, errors } = await move({ DATA: data }, {}, ...args);
    assert.notEqual(code, 0, errors);
    assert.match(errors, reason);
    assert.doesNotMatch(output + errors, /pass-word/);
  }
  assert.deepEqual(await readdir(parent), ['data']);
});
