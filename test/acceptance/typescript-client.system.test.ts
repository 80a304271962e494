import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import {
  AuthenticationError,
  ConnectionError,
  NotFoundError,
  PermissionError,
  Quartermaster,
  RecordFailedError,
  RunFailedError,
  ValidationError,
} from '@quartermaster/client';
import { blocksRunBy } from '../support/documented-blocks.ts';
import { serve } from '../support/http.ts';
import { startLossyProxy } from '../support/lossy-proxy.ts';
import { handbook } from '../support/sample-handbook.ts';
import { type StartedService, share, startService, temporaryFolder } from '../support/service.ts';

const run = promisify(execFile);
const connect = ({ filesUrl, pluginsUrl, key }: StartedService) =>
  new Quartermaster({ baseUrl: filesUrl, pluginsUrl, apiKey: key });

const shared = share(startService);

test('[client] the programs of the guide run as printed', async (t) => {
  const { filesUrl, pluginsUrl, key } = await startService(t);
  const blocks = blocksRunBy(import.meta.filename, 'docs/guides/typescript-client.md').map(({ text }) => text);
  assert.equal(blocks.length, 7);
  // Other pages use the client of this guide.
  const others = blocksRunBy(import.meta.filename, 'docs/guides/runs.md').map(({ text }) => `{\n${text}}`);
  assert.equal(others.length, 1);
  // The folder is below the root of the repository, so that its packages are found.
  const folder = await mkdtemp(join(process.cwd(), 'node_modules', 'client-guide-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'handbook.md'), '# Opening hours\n\nThe library opens at nine.\n');
  const program = [...blocks, ...others]
    .join('\n')
    .replaceAll('http://127.0.0.1:8080', filesUrl)
    .replaceAll('http://127.0.0.1:8081', pluginsUrl);
  await writeFile(join(folder, 'guide.mjs'), program);
  await writeFile(join(folder, 'guide.mts'), program);
  const options = '--ignoreConfig --noEmit --strict --exactOptionalPropertyTypes --target es2023 --module nodenext';
  const checked = [...options.split(' '), '--lib', 'es2023,dom', '--types', 'node', '--allowImportingTsExtensions'];
  await run('node_modules/.bin/tsc', [...checked, join(folder, 'guide.mts')], { signal: t.signal });
  const env = { PATH: process.env.PATH, QM_API_KEY: key };
  const { stdout } = await run(process.execPath, ['guide.mjs'], { cwd: folder, env, signal: t.signal });
  const lines = stdout.split('\n');
  assert.equal(lines[0], '1 chunks');
  assert.match(stdout, /The library opens at nine\./);
  assert.match(stdout, /value: 42/);
  assert.match(stdout, /^image\/png \d+$/m);
  assert.equal((await readFile(join(folder, 'code.png'))).toString('hex', 0, 8), '89504e470d0a1a0a');
  assert.match(stdout, /value: 1024/);
  assert.match(stdout, /^no such collection$/m);
  assert.match(lines.at(-2) ?? '', /^\d+ 200 \S+$/, 'the response and its request id');
});

test('[client] a search finds a passage of an uploaded PDF with its page, with one address and one key', async (t) => {
  const { filesUrl, key } = await startService(t);
  const qm = new Quartermaster({ baseUrl: filesUrl, apiKey: key });
  const bytes = new Uint8Array(handbook[0]?.bytes ?? []);
  const sent: number[] = [];
  const file = await qm.files.upload(bytes, { name: 'guide.pdf', onProgress: ({ sentBytes }) => sent.push(sentBytes) });
  assert.equal(sent.at(-1), bytes.byteLength);
  assert.deepEqual(new Uint8Array(await (await qm.files.content(file.file_id)).arrayBuffer()), bytes);
  const { collection_id } = await qm.collections.create({ name: 'guides' });
  const states: string[] = [];
  const record = await qm.records
    .create(collection_id, { type: 'file', file_id: file.file_id })
    .wait({ onProgress: ({ status }) => states.push(status) });
  assert.equal(record.status, 'ready');
  assert.deepEqual([states[0], states.at(-1)], ['creating', 'ready']);
  const [best] = await qm.search(collection_id, { query_text: 'handbook', top_k: 1 });
  assert.ok((best?.locator?.page ?? 0) >= 1);
  // The files address also serves plugins.
  assert.ok((await qm.bundles.list()).some(({ bundle_id }) => bundle_id === 'calculator'));
  const ended = await qm.plugins.start('calculator/evaluate', { expression: '6 * 7' }).wait();
  assert.deepEqual(ended.result?.data, { result: '42', value: 42 });
  assert.deepEqual(await qm.plugins.output('calculator/evaluate', { expression: '6 * 7' }), {
    result: '42',
    value: 42,
  });
  await assert.rejects(qm.plugins.start('calculator/evaluate', { expression: '6 *' }).wait(), RunFailedError);
  await qm.records.delete(collection_id, record.record_id);
  await qm.collections.delete(collection_id);
  await qm.files.delete(file.file_id);
});

test('[client] an artifact is downloaded whole and in part at both addresses, until it is deleted', async () => {
  const { filesUrl, pluginsUrl, key } = await shared();
  for (const qm of [
    new Quartermaster({ baseUrl: filesUrl, pluginsUrl, apiKey: key }),
    new Quartermaster({ baseUrl: filesUrl, apiKey: key }),
  ]) {
    const { artifacts = [] } = await qm.plugins.run('qr_code_generator/generate_qr_code', {
      text: 'https://example.com/',
    });
    assert.equal(artifacts.length, 2);
    for (const { artifact_id, bytes, sha256, media_type } of artifacts) {
      const whole = await qm.artifacts.download(artifact_id);
      assert.equal(whole.headers.get('content-type'), media_type);
      const content = Buffer.from(await whole.arrayBuffer());
      assert.equal(content.length, bytes);
      assert.equal(createHash('sha256').update(content).digest('hex'), sha256);
      const part = await qm.artifacts.download(artifact_id, { range: 'bytes=1-3' });
      assert.deepEqual([part.status, Buffer.from(await part.arrayBuffer())], [206, content.subarray(1, 4)]);
      await qm.artifacts.delete(artifact_id);
      await assert.rejects(qm.artifacts.download(artifact_id), NotFoundError);
    }
  }
});

test('[client] errors of the service have their own classes, and lists of any length can be iterated', async () => {
  const service = await shared();
  const qm = connect(service);
  await assert.rejects(qm.files.get('file00000000000000000000'), (error) => {
    assert.ok(error instanceof NotFoundError);
    return error.code === 'OBJECT_NOT_FOUND' && /^\S+$/.test(error.requestId ?? '');
  });
  await assert.rejects(qm.files.upload(new Blob(['a']), { name: 'a.exe' }), (error) => {
    return error instanceof ValidationError && error.issues.length > 0;
  });
  const other = new Quartermaster({ baseUrl: service.filesUrl, apiKey: 'qm_no_such_key' });
  await assert.rejects(other.files.list(), AuthenticationError);

  const ids: string[] = [];
  for (let index = 0; index < 23; index += 1) ids.push((await qm.collections.create()).collection_id);
  const listed = await Array.fromAsync(qm.collections.list({ limit: 10, order: 'asc' }));
  assert.deepEqual(
    listed.map(({ collection_id }) => collection_id),
    ids,
  );

  const [project] = (await qm.projects.list()).data;
  const { key_id, key } = await qm.keys.create(project?.project_id ?? '', { name: 'reader', scopes: ['files'] });
  const reader = new Quartermaster({ baseUrl: service.filesUrl, apiKey: key });
  await reader.files.list();
  await assert.rejects(reader.collections.list(), PermissionError);
  await qm.keys.revoke(project?.project_id ?? '', key_id);
  await assert.rejects(reader.files.list(), AuthenticationError);

  const { file_id } = await qm.files.upload(new Blob([]), { name: 'empty.txt' });
  const failing = qm.records.create(ids[0] ?? '', { type: 'file', file_id }).wait();
  await assert.rejects(failing, (error) => error instanceof RecordFailedError && error.code === 'file_empty');
});

test('[client] after a lost response exactly one file, one run and one record exist', async (t) => {
  const service = await startService(t);
  const files = await startLossyProxy(t, service.filesUrl);
  const plugins = await startLossyProxy(t, service.pluginsUrl);
  const qm = new Quartermaster({ baseUrl: files.url, pluginsUrl: plugins.url, apiKey: service.key });
  files.loseResponses(1);
  const file = await qm.files.upload(new Blob(['Tea is served at four.']), { name: 'tea.txt' });
  assert.equal(files.lost(), 1);
  assert.deepEqual(
    (await qm.files.list()).data.map(({ file_id }) => file_id),
    [file.file_id],
  );

  plugins.loseResponses(1);
  const { run_id, data } = await qm.plugins.run('arithmetic/add', { number_1: 2, number_2: 3 });
  assert.deepEqual([plugins.lost(), data], [1, { result: 5 }]);
  assert.deepEqual(
    (await qm.runs.list()).data.map((one) => one.run_id),
    [run_id],
  );

  const { collection_id } = await qm.collections.create();
  files.loseResponses(1);
  await assert.rejects(qm.records.create(collection_id, { content: 'Tea.' }), ConnectionError);
  assert.equal((await qm.records.list(collection_id)).data.length, 1);
  files.loseResponses(1);
  await qm.files.delete(file.file_id);
  assert.equal((await qm.files.list()).data.length, 0);
});

test('[client] a creation whose response is lost is not sent again, so one object exists', async (t) => {
  const service = await startService(t);
  const files = await startLossyProxy(t, service.filesUrl);
  const plugins = await startLossyProxy(t, service.pluginsUrl);
  const qm = new Quartermaster({ baseUrl: files.url, pluginsUrl: plugins.url, apiKey: service.key });
  const { client } = service;
  const [{ collection_id: records }, { collection_id: chunks }] = [
    await client.collections.create(),
    await client.collections.create(),
  ];
  const project = (await client.projects.list()).data[0]?.project_id ?? '';
  const key = { name: 'reader', scopes: ['files' as const] };
  const { key_id } = await client.keys.create(project, key);
  const profile = { name: 'weather', bundle_id: 'open_weather', credentials: { OPEN_WEATHER_API_KEY: 'abcd1234' } };
  const creations = {
    collection: [files, () => qm.collections.create(), () => client.collections.list()],
    record: [files, () => qm.records.create(records, { content: 'Tea.' }), () => client.records.list(records)],
    chunk: [files, () => qm.chunks.create(chunks, { content: 'Tea.' }), () => client.chunks.list(chunks)],
    key: [files, () => qm.keys.create(project, key), () => client.keys.list(project)],
    'replacement of a key': [files, () => qm.keys.rotate(project, key_id), () => client.keys.list(project)],
    profile: [plugins, () => qm.credentialProfiles.create(profile), () => client.credentialProfiles.list()],
  } as const;
  for (const [what, [proxy, create, list]] of Object.entries(creations)) {
    const [numLost, { length }] = [proxy.lost(), (await list()).data];
    proxy.loseResponses(1);
    await assert.rejects(create(), ConnectionError, what);
    assert.deepEqual([proxy.lost() - numLost, (await list()).data.length - length], [1, 1], what);
  }
});

test('[client] wait continues while the service is killed and restarted', async (t) => {
  const folder = await temporaryFolder(t);
  const first = await startService(t, { folder });
  const proxy = await startLossyProxy(t, first.filesUrl);
  const qm = new Quartermaster({ baseUrl: proxy.url, apiKey: first.key });
  const { collection_id } = await qm.collections.create();
  const content = 'The library opens at nine. '.repeat(2_000);
  const { record_id } = await qm.records.create(collection_id, { content });
  await first.kill();
  const waiting = qm.records.wait(collection_id, record_id);
  const second = await startService(t, { folder });
  proxy.forwardTo(second.filesUrl);
  assert.equal((await waiting).status, 'ready');
});

test('[client] a file name reaches the service as from a browser form', async () => {
  const service = await shared();
  const qm = connect(service);
  for (const name of ['a"b.txt', 'a\r\nb.txt', 'ünï 測.txt', "a'b;c=d.txt"]) {
    const form = new FormData();
    form.set('purpose', 'record_file');
    form.set('file', new Blob(['a']), name);
    const headers = { Authorization: `Bearer ${service.key}` };
    const response = await fetch(`${service.filesUrl}/v1/files`, { method: 'POST', headers, body: form });
    const { data, error } = (await response.json()) as { data?: { file_name: string }; error?: { code: string } };
    const mine = await qm.files.upload(new Blob(['a']), { name }).then(
      ({ file_name }) => file_name,
      ({ code }) => code,
    );
    assert.equal(mine, data?.file_name ?? error?.code, name);
  }
});

test('[client] an upload of 1 GiB takes less than 64 MiB of memory', async (t) => {
  const folder = await temporaryFolder(t);
  const path = join(folder, 'large.txt');
  const handle = await open(path, 'w');
  await handle.truncate(1024 ** 3);
  await handle.close();
  const sink = await startSink(t);
  const program = `import { Quartermaster } from ${JSON.stringify(import.meta.resolve('@quartermaster/client'))};
    import { createReadStream } from 'node:fs';
    const qm = new Quartermaster({ baseUrl: ${JSON.stringify(sink.url)}, apiKey: 'k' });
    await qm.files.upload(new Blob(['warm']), { name: 'a.txt' });
    const before = process.resourceUsage().maxRSS;
    await qm.files.upload(process.argv[1] === 'stream' ? createReadStream(${JSON.stringify(path)}) : ${JSON.stringify(path)});
    console.log(process.resourceUsage().maxRSS - before);`;
  for (const source of ['path', 'stream']) {
    sink.reset();
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program, source], {
      signal: t.signal,
    });
    assert.ok(sink.bytes() > 1024 ** 3, `${sink.bytes()} bytes arrived`);
    t.diagnostic(`${source}: ${Math.round(Number(stdout) / 1024)} MiB`);
    assert.ok(Number(stdout) < 64 * 1024, `${source}: the process grew by ${stdout} KiB`);
  }
});

/** Starts a server that counts what it receives and forgets it. */
async function startSink(t: TestContext) {
  let bytes = 0;
  const origin = await serve(t, (request, response) => {
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    request.on('end', () => response.end('{"status":"success","data":{"file_id":"f"}}'));
  });
  const reset = () => {
    bytes = 0;
  };
  return { url: origin, bytes: () => bytes, reset };
}
