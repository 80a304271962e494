import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import type { Quartermaster } from '@quartermaster/client';
import { settledRecord } from '../../../test/support/client.ts';
import { commandEnvironment } from '../../../test/support/command-environment.ts';
import { type MirrorOptions, startModelMirror } from '../../../test/support/model-mirror.ts';
import { logLines, startService, temporaryFolder } from '../../../test/support/service.ts';
import { until } from '../../server/src/platform/testing/until.ts';
import { recommendedModels } from '../../server/src/stores/search/embedding/model-fetch/recommended-models.ts';
import { runCli } from './testing/run-cli.ts';

const name = 'multilingual-e5-small';
const files = ['config.json', 'model.onnx', 'tokenizer.json', 'tokenizer_config.json'];

/** A mirror of the hub, and a store that uses it. */
async function open(t: TestContext, options: MirrorOptions = {}) {
  const home = await temporaryFolder(t);
  const { source, mirror, requests } = await startModelMirror(t, options);
  const data = join(home, 'data');
  const use = (args: readonly string[] = [name], settings: Readonly<Record<string, string>> = {}) =>
    runCli(['embedding', 'use', ...args, '--mirror', mirror], {
      home,
      environment: { QUARTERMASTER_DATA: data, ...settings },
    });
  const list = async () => JSON.parse(await readFile(join(data, 'models', 'models.json'), 'utf8'));
  const states = async () => {
    const environment = { QUARTERMASTER_DATA: data };
    const { output, errors } = await runCli(['embedding', 'list', '--json'], { home, environment });
    assert.equal(errors, '');
    return output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).state);
  };
  return { home, source, data, mirror, requests, use, list, states };
}

const installed = (data: string) => readdir(join(data, 'models'));

/** Asks a question that no record answers with its words. */
async function find(client: Quartermaster, collection: string): Promise<string | undefined> {
  const [best] = await client.search(collection, { query_text: 'a hot beverage', top_k: 1 });
  return best?.content;
}

test('after "embedding use", a service without settings for it finds synonyms, and another model replaces the vectors', async (t) => {
  const { data, requests, use, list, states } = await open(t);
  const used = await use();
  assert.equal(used.code, 0, used.errors);
  assert.match(
    used.errors,
    /^multilingual-e5-small: 94 languages, 384 dimensions, licence MIT\. It downloads 487 MB from /,
  );
  assert.match(
    used.output,
    /installed .*\/models\/multilingual-e5-small; the model works\nThe service uses it from now on/,
  );
  const folder = join(data, 'models', name);
  assert.deepEqual((await readdir(folder)).sort(), [...files, 'quartermaster.json'].sort());
  assert.match(await readFile(join(folder, 'quartermaster.json'), 'utf8'), /"query_prefix":"query: "/);
  assert.deepEqual(await states(), ['in use', null, null]);

  const first = await startService(t, { folder: data });
  const { collection_id: collection } = await first.client.collections.create({ name: 'things' });
  for (const content of ['Green tea.', 'The night train.']) {
    const { record_id } = await first.client.records.create(collection, { content });
    await settledRecord(first.client, collection, record_id);
  }
  await until(() => isCurrent(first, collection, name));
  assert.equal(await find(first.client, collection), 'Green tea.');
  assert.equal(await first.stop(), 0);

  const calls = requests.length;
  const again = await use([name, '--json']);
  assert.deepEqual([again.code, JSON.parse(again.output).unchanged, requests.length], [0, true, calls], again.errors);

  const other = await use(['all-MiniLM-L6-v2']);
  assert.match(other.output, /the vectors of multilingual-e5-small answer/);
  assert.deepEqual(await states(), ['former', null, 'in use']);
  const second = await startService(t, { folder: data });
  await until(() => isCurrent(second, collection, 'all-MiniLM-L6-v2'));
  assert.equal(await find(second.client, collection), 'Green tea.');
  assert.equal(await second.stop(), 0);
  assert.equal((await use(['all-MiniLM-L6-v2'])).code, 0);
  assert.deepEqual((await list()).in_use, ['all-MiniLM-L6-v2']);
  assert.deepEqual(await states(), ['downloaded', null, 'in use']);
});

async function isCurrent({ client }: { client: Quartermaster }, collection: string, model: string): Promise<boolean> {
  const { vectors, embedding } = await client.collections.get(collection);
  return vectors === 'current' && embedding?.model?.startsWith(`onnx:${model}:`) === true;
}

test('a running service takes the model of "embedding use" into use, exchanges it for another and closes the former one', async (t) => {
  const { data, use } = await open(t);
  const service = await startService(t, { folder: data });
  const { collection_id: collection } = await service.client.collections.create({ name: 'things' });
  for (const content of ['Green tea.', 'The night train.']) {
    const { record_id } = await service.client.records.create(collection, { content });
    await settledRecord(service.client, collection, record_id);
  }
  const before = await service.client.collections.get(collection);
  assert.deepEqual([before.vectors, await find(service.client, collection)], ['off', undefined]);
  assert.equal((await use()).code, 0);
  await until(() => isCurrent(service, collection, name));
  await until(async () => (await find(service.client, collection)) === 'Green tea.');
  assert.equal((await use(['all-MiniLM-L6-v2'])).code, 0);
  await until(() => isCurrent(service, collection, 'all-MiniLM-L6-v2'));
  await until(async () => (await find(service.client, collection)) === 'Green tea.');
  const { record_id } = await service.client.records.create(collection, { content: 'More tea.' });
  await settledRecord(service.client, collection, record_id);
  await until(async () => (await service.client.collections.get(collection)).embedding?.num_embedded === 3);
  assert.equal((await use(['all-MiniLM-L6-v2'])).code, 0);
  const exchanged = () => logLines(service, 'embedding models exchanged').map(({ former }) => former !== null);
  await until(async () => exchanged().length === 3);
  assert.deepEqual(exchanged(), [false, true, false]);
  await until(async () => /tea/.test((await find(service.client, collection)) ?? ''));
  assert.equal(logLines(service, 'embedding model process started').length, 2);
  assert.equal(await service.stop(), 0);
  assert.deepEqual(
    logLines(service).filter(({ level }) => level === 'error'),
    [],
  );
});

test('later downloads must have the checksums of the first one', async (t) => {
  const { source, data, use, list } = await open(t);
  assert.equal((await use()).code, 0);
  const before = await list();
  const path = recommendedModels.find((model) => model.name === name)?.path ?? '';
  assert.deepEqual(Object.keys(before.sha256[path]).sort(), files);
  await writeFile(join(source, path, 'config.json'), '{"changed":true}');
  await rm(join(data, 'models', name), { recursive: true });
  const { code, errors } = await use();
  assert.deepEqual([code, await list(), await installed(data)], [1, before, ['models.json']]);
  assert.match(errors, /The checksum of config\.json does not match: expected [0-9a-f]{64}/);
  await writeFile(join(source, path, 'config.json'), '{}');
  assert.equal((await use()).code, 0);
  await writeFile(join(data, 'models', name, 'config.json'), '{"changed":true}');
  assert.match((await use()).errors, /exists and holds other files\. Name another folder, or remove it/);
});

test('"embedding use" changes nothing and names the reason when a model cannot be used', async (t) => {
  const { home, data, use } = await open(t);
  const keys = { AWS_ACCESS_KEY_ID: 'x', AWS_SECRET_ACCESS_KEY: 'x', AWS_REGION: 'us-east-1' };
  const shared = {
    QUARTERMASTER_DATABASE_URL: 'postgres://127.0.0.1:1/x',
    QUARTERMASTER_BLOBS: 's3://bucket',
    ...keys,
  };
  const cases: ReadonlyArray<readonly [args: string[], settings: Record<string, string>, message: RegExp]> = [
    [['multilingual-e5-smal'], {}, /"multilingual-e5-smal" is not known\. Did you mean multilingual-e5-small\?/],
    [[name], { QUARTERMASTER_EMBEDDING_PROVIDER: 'openai' }, /EMBEDDING_PROVIDER is "openai", and settings take/],
    [[name], shared, /can have several nodes.*--folder/],
  ];
  for (const [args, settings, message] of cases) {
    const { code, errors } = await use(args, settings);
    assert.match(errors, message);
    assert.notEqual(code, 0);
  }
  assert.deepEqual(await readdir(home), []);
  const refusals: ReadonlyArray<readonly [options: MirrorOptions, message: RegExp]> = [
    [{ dimensions: 3 }, /returned a vector of 3 dimensions instead of 384/],
    [{ answer: (_, response) => response.end('{}') }, /The model in .* cannot be used/],
    [
      { answer: (_, response) => response.writeHead(404).end() },
      /status 404 for model\.onnx at http:\S+\/resolve\/\S+\/model\.onnx\. .*--mirror\.$/m,
    ],
    [
      { answer: (request) => request.socket.destroy() },
      /model\.onnx cannot be downloaded from http:\S+model\.onnx: .* --mirror\.$/m,
    ],
    [
      { answer: (_, response) => response.writeHead(302, { location: 'http://elsewhere.example/' }).end() },
      /the host "elsewhere\.example" .* allow it with --allow-host/,
    ],
  ];
  for (const [options, message] of refusals) {
    const other = await open(t, options);
    const { code, errors } = await other.use();
    assert.match(errors, message);
    assert.deepEqual([code, await installed(other.data)], [1, []], errors);
  }
  // A damaged list stops every start, so it says what to do.
  await mkdir(join(data, 'models'), { recursive: true });
  await writeFile(join(data, 'models', 'models.json'), '{"in_use":["../etc"]}');
  assert.match((await use()).errors, /models\.json is damaged\. Remove it, and choose the model again/);
});

test('"embedding use" with --folder installs a model for the nodes of a store and puts nothing into use', async (t) => {
  const { home, data, use, states } = await open(t);
  const folder = join(home, 'nodes', name);
  const { output, errors } = await use([name, '--folder', folder], { QUARTERMASTER_EMBEDDING_PROVIDER: 'none' });
  assert.match(output, /Set QUARTERMASTER_EMBEDDING_PROVIDER=onnx and QUARTERMASTER_EMBEDDING_MODEL=/, errors);
  assert.deepEqual((await readdir(folder)).sort(), [...files, 'quartermaster.json'].sort());
  assert.deepEqual(await states(), [null, null, null]);
  await assert.rejects(readdir(data), /ENOENT/);
});

test('a disk without room for the model is named before the download', async (t) => {
  const { requests, use } = await open(t);
  const disk = await mkdtemp(join(tmpdir(), 'quartermaster-use-disk-'));
  // Mounting needs root, as the network namespaces of other tests do.
  await promisify(execFile)('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', disk]);
  t.after(async () => {
    await promisify(execFile)('umount', [disk]);
    await rm(disk, { recursive: true });
  });
  const { errors } = await use([name, '--folder', join(disk, name)]);
  assert.match(errors, /needs 487 MB, and the disk of .* has 2 MB left\. Free some space/);
  assert.deepEqual([requests, await readdir(disk)], [[], []]);
});

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  test(`"embedding use" leaves the model in use on ${signal}`, async (t) => {
    const { home, data, mirror, use, list, states } = await open(t);
    assert.equal((await use()).code, 0);
    const before = await list();
    const arrived = Promise.withResolvers<void>();
    const endless = await open(t, { answer: () => arrived.resolve() });
    assert.notEqual(endless.mirror, mirror);
    const args = ['embedding', 'use', 'all-MiniLM-L6-v2', '--mirror', endless.mirror];
    const child = spawn(process.execPath, [join(import.meta.dirname, 'main.ts'), ...args], {
      env: { ...commandEnvironment, HOME: home, QUARTERMASTER_DATA: data },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let errors = '';
    child.stderr.on('data', (part) => {
      errors += part;
    });
    await arrived.promise;
    child.kill(signal);
    const [code] = await once(child, 'close');
    assert.deepEqual([code, await list(), await states()], [75, before, ['in use', null, null]], errors);
    assert.match(errors, /Interrupted\. The embedding model was not changed\./);
    assert.deepEqual((await installed(data)).sort(), ['models.json', name]);
  });
}
