import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { writeTinyModel } from '../../../../../../../test/support/tiny-model.ts';
import { temporaryFolder } from '../../../../platform/testing/temporary-folder.ts';
import { never, startBroker, startServer } from '../../../../tools/egress/testing/broker.suite.ts';
import { readModelFolder } from '../onnx/model-folder.ts';
import { fetchModel, type ModelRequest } from './fetch-model.ts';

const run = promisify(execFile);
const mebibyte = 1024 * 1024;

type Files = Readonly<Record<string, Buffer>>;

/** A small model, with a file that is larger than what the broker holds in memory. */
async function modelFiles(folder: string): Promise<Files> {
  await writeTinyModel(join(folder, 'source'), { vectors: { tea: [1, 0], car: [0, 1] } });
  const read = (name: string) => readFile(join(folder, 'source', name));
  return {
    'onnx/model.onnx': await read('model.onnx'),
    'onnx/model.onnx_data': Buffer.alloc(3 * mebibyte, 'weights '),
    'tokenizer.json': await read('tokenizer.json'),
  };
}

const hashOf = (content: Buffer | string) => createHash('sha256').update(content).digest('hex');
const listOf = (files: Files) =>
  Object.entries(files)
    .map(([name, content]) => `${hashOf(content)}  ${name}\n`)
    .join('');

async function open(t: TestContext, answer?: RequestListener) {
  const home = await temporaryFolder(t);
  const files = await modelFiles(home);
  const server = await startServer(t, (request, response) => {
    const name = request.url?.replace('/models/tiny/', '') ?? '';
    const content = name === 'SHA256SUMS' ? Buffer.from(listOf(files)) : files[name];
    if (answer !== undefined && name !== 'SHA256SUMS') return answer(request, response);
    response.writeHead(content === undefined ? 404 : 200).end(content);
  });
  const models = join(home, 'models');
  await mkdir(models);
  const folder = join(models, 'tiny');
  const fetch = (changes: Partial<ModelRequest> = {}, signal = never) =>
    fetchModel(
      startBroker(t, { overrides: new Map([[server.origin, server.origin]]) }),
      {
        url: `${server.origin}/models/tiny/`,
        checksums: { ofList: hashOf(listOf(files)) },
        allowedHosts: [],
        folder,
        maxBytes: 64 * mebibyte,
        onProgress: () => undefined,
        advice: { missing: 'Check the address.', large: 'Use --max-mb.' },
        ...changes,
      },
      signal,
    );
  /** Asserts that nothing is installed, and no temporary folder is left. */
  const assertNothing = async () => assert.deepEqual(await readdir(models), []);
  return { files, server, folder, models, fetch, assertNothing };
}

test('a model is downloaded, verified and installed, and a second call changes nothing', async (t) => {
  const { files, server, folder, models, fetch } = await open(t);
  const bytes = Object.values(files).reduce((sum, content) => sum + content.length, 0);
  const progress = new Map<string, number>();
  const onProgress: ModelRequest['onProgress'] = (name, received) => progress.set(name, received);
  assert.deepEqual(await fetch({ onProgress }), { folder, files: 3, bytes, isUnchanged: false });
  for (const [name, content] of Object.entries(files)) assert.equal(progress.get(name), content.length);
  for (const [name, content] of Object.entries(files)) assert.ok((await readFile(join(folder, name))).equals(content));
  assert.equal((await readModelFolder(folder)).model.modelFile, join(folder, 'onnx', 'model.onnx'));
  assert.deepEqual(await readdir(models), ['tiny']);
  const calls = server.requests.length;
  assert.deepEqual(await fetch({ checksums: { list: listOf(files) } }), { folder, files: 3, bytes, isUnchanged: true });
  assert.equal(server.requests.length, calls);
  await writeFile(join(folder, 'tokenizer.json'), '{}');
  await assert.rejects(fetch(), /exists and holds other files/);
});

test('the list of checksums must have its checksum and stay within the folder', async (t) => {
  const { files, fetch, assertNothing } = await open(t);
  await assert.rejects(
    fetch({ checksums: { ofList: 'a'.repeat(64) } }),
    /The checksum of SHA256SUMS does not match: expected a{64}, received [0-9a-f]{64}/,
  );
  const [checksum] = listOf(files).split(' ');
  for (const list of [
    '',
    'tokenizer.json',
    `${checksum}  ../tokenizer.json`,
    `${checksum}  /etc/passwd`,
    `${checksum}  a/../../b`,
    `${checksum}  a\n${checksum}  a`,
  ]) {
    await assert.rejects(fetch({ checksums: { list } }), /list of checksums/, list);
  }
  await assertNothing();
});

const failures: ReadonlyArray<[what: string, answer: RequestListener, message: RegExp]> = [
  [
    'a file with another checksum',
    (_, response) => response.end('something else'),
    /onnx\/model.onnx does not match: expected [0-9a-f]{64}/,
  ],
  [
    'a broken download',
    (_, response) => {
      response.writeHead(200, { 'content-length': 8 * mebibyte });
      response.write(Buffer.alloc(2 * mebibyte), () => response.destroy());
    },
    /The download of onnx\/model.onnx broke off: .*Run the command again/,
  ],
  [
    'a missing file',
    (_, response) => response.writeHead(404).end('not here'),
    /status 404 for onnx\/model.onnx at http:\S+\/onnx\/model\.onnx\. Check the address\.$/,
  ],
];
for (const [what, answer, message] of failures) {
  test(`${what} installs nothing`, async (t) => {
    const { fetch, assertNothing } = await open(t, answer);
    await assert.rejects(fetch(), message);
    await assertNothing();
  });
}

test('the limit of bytes holds for all files together, also while one arrives', async (t) => {
  const { fetch, assertNothing } = await open(t);
  await assert.rejects(fetch({ maxBytes: 2 * mebibyte }), /onnx\/model.onnx_data exceeds .*--max-mb/);
  await assertNothing();
  const endless = await open(t, (_, response) => {
    const write = () => response.write(Buffer.alloc(mebibyte), (error) => error ?? write());
    write();
  });
  await assert.rejects(endless.fetch({ maxBytes: 4 * mebibyte }), /onnx\/model.onnx exceeds/);
  await endless.assertNothing();
});

test('a redirect is followed to a permitted address only', async (t) => {
  const files = await open(t);
  const inner = await startServer(t, (_, response) => response.end('secret'));
  const redirecting = await open(t, (request, response) => {
    const name = request.url?.replace('/models/tiny/', '') ?? '';
    const [, at] = name.split('?moved');
    if (at !== undefined) return response.end(files.files[name.replace('?moved', '')]);
    response.writeHead(302, { location: `${request.url}?moved` }).end();
  });
  assert.equal((await redirecting.fetch()).isUnchanged, false);
  const hostile = await open(t, (_, response) => response.writeHead(302, { location: inner.origin }).end());
  await assert.rejects(
    hostile.fetch(),
    /onnx\/model.onnx cannot be downloaded: the host .* allow it with --allow-host/,
  );
  await hostile.assertNothing();
  // An allowed host with a private address is not reached either.
  const allowed = { allowedHosts: [new URL(inner.origin).host] };
  await assert.rejects(hostile.fetch(allowed), /not an address of the public internet/);
  assert.equal(inner.connections(), 0);
  const circular = await open(t, (request, response) => response.writeHead(302, { location: request.url ?? '' }).end());
  await assert.rejects(circular.fetch(), /redirected more than 5 times/);
});

test('an aborted download installs nothing, and the next call removes what a killed process left', async (t) => {
  const abort = new AbortController();
  const { models, folder, fetch, assertNothing } = await open(t, (_, response) => {
    response.write(Buffer.alloc(2 * mebibyte));
    abort.abort(new Error('interrupted'));
  });
  await assert.rejects(fetch({}, abort.signal), /^Error: interrupted$/);
  await assertNothing();
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'exit');
  await mkdir(join(models, `.tiny.partial-${child.pid}-abc`));
  await mkdir(join(models, `.tiny.partial-${process.ppid}-abc`));
  const { fetch: again } = await open(t);
  await again({ folder });
  assert.deepEqual((await readdir(models)).sort(), [`.tiny.partial-${process.ppid}-abc`, 'tiny']);
});

test('a folder without a tokenizer is not installed', async (t) => {
  const { files, fetch, assertNothing } = await open(t);
  const { 'tokenizer.json': _, ...others } = files;
  await assert.rejects(fetch({ checksums: { list: listOf(others) } }), /has no tokenizer.json/);
  await assertNothing();
});

test('a full disk installs nothing and is named', async (t) => {
  const { fetch } = await open(t);
  const disk = await mkdtemp(join(tmpdir(), 'quartermaster-fetch-disk-'));
  // Mounting needs root, as the network namespaces of other tests do.
  await run('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', disk]);
  t.after(async () => {
    await run('umount', [disk]);
    await rm(disk, { recursive: true });
  });
  await assert.rejects(fetch({ folder: join(disk, 'tiny') }), /The disk of .* is full. Free some space/);
  assert.deepEqual(await readdir(disk), []);
});
