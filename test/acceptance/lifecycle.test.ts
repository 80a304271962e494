import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, rename, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { commandEnvironment } from '../support/command-environment.ts';
import { share, startService } from '../support/service.ts';

const shared = share(startService);

test('[operations] both addresses report health, readiness and version, and serve their OpenAPI documents', async () => {
  const { filesUrl, pluginsUrl, key } = await shared();
  for (const url of [filesUrl, pluginsUrl]) {
    for (const path of ['/v1/health_check', '/v1/ready', '/v1/version', '/openapi.json']) {
      assert.equal((await fetch(url + path)).status, 200, url + path);
    }
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as { openapi: string; paths: object };
    assert.equal(document.openapi, '3.1.0');
    assert.ok(Object.keys(document.paths).length >= 8);
  }
  assert.equal((await fetch(`${filesUrl}/metrics`)).status, 401);
  const metrics = await fetch(`${filesUrl}/metrics`, { headers: { Authorization: `Bearer ${key}` } });
  assert.match(await metrics.text(), /quartermaster_http_requests_total/);
});

test('[separate] neither address serves the paths of the other', async () => {
  const { filesUrl, pluginsUrl, key } = await shared();
  const headers = { Authorization: `Bearer ${key}` };
  for (const path of ['/v1/bundles', '/v1/plugins']) {
    assert.equal((await fetch(filesUrl + path, { headers })).status, 404);
    assert.equal((await fetch(pluginsUrl + path, { headers })).status, 200);
  }
  for (const path of ['/v1/files', '/v1/collections', '/v1/limits']) {
    assert.equal((await fetch(pluginsUrl + path, { headers })).status, 404);
    assert.equal((await fetch(filesUrl + path, { headers })).status, 200);
  }
});

test('[keys] the files address always requires a key; the plugins address on loopback does not, but checks a key that is sent', async () => {
  const { filesUrl, pluginsUrl } = await shared();
  for (const path of ['/v1/files', '/v1/collections', '/v1/limits']) {
    assert.equal((await fetch(filesUrl + path)).status, 401, path);
  }
  assert.equal((await fetch(`${pluginsUrl}/v1/bundles`)).status, 200);
  const wrong = await fetch(`${pluginsUrl}/v1/bundles`, { headers: { Authorization: 'Bearer nonsense' } });
  assert.equal(wrong.status, 401);
});

test('[keys] the plugins address requires a key when it is bound to an address other than loopback', async (t) => {
  const { pluginsUrl, key } = await startService(t, { settings: { HOST: '0.0.0.0' } });
  const url = pluginsUrl.replace('0.0.0.0', '127.0.0.1');
  assert.equal((await fetch(`${url}/v1/bundles`)).status, 401);
  const bundles = await fetch(`${url}/v1/bundles`, { headers: { Authorization: `Bearer ${key}` } });
  assert.equal(bundles.status, 200);
  const { data } = (await bundles.json()) as { data: readonly { icon_url: string }[] };
  const icon = data[0]?.icon_url ?? '';
  assert.notEqual(new URL(icon).hostname, '0.0.0.0', 'URLs in answers name an address of the machine');
  assert.equal((await fetch(icon, { headers: { Authorization: `Bearer ${key}` } })).status, 200, icon);
});

test('[keys] the first key is printed once and stored in a file that only its owner can read, and commands manage keys', async () => {
  const service = await shared();
  assert.equal((await stat(join(service.folder, 'first-key'))).mode & 0o777, 0o600);
  assert.equal((await stat(service.folder)).mode & 0o077, 0);
  const run = async (...args: string[]) => {
    const child = spawn(process.execPath, ['packages/cli/src/main.ts', ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...commandEnvironment, QUARTERMASTER_DATA: service.folder },
    });
    let output = '';
    let errors = '';
    child.stdout.on('data', (text) => {
      output += text;
    });
    child.stderr.on('data', (text) => {
      errors += text;
    });
    const [code] = (await once(child, 'close')) as [number];
    return { code, output: output.trim(), errors };
  };
  const project = (await run('project', 'create', 'second')).output;
  const created = await run('key', 'create', project, '--name', 'reader', '--scopes', 'files');
  assert.equal(created.code, 0, created.errors);
  const list = (path: string) =>
    fetch(service.filesUrl + path, { headers: { Authorization: `Bearer ${created.output}` } });
  assert.equal((await list('/v1/files')).status, 200, 'a key made beside the running service works immediately');
  assert.equal((await list('/v1/collections')).status, 403, 'a key works for its scopes only');
  const keyId = (await run('key', 'list', project)).output.split('\n')[1]?.split(' ')[0] ?? '';
  assert.equal((await run('key', 'revoke', keyId)).code, 0);
  let status = 200;
  for (let i = 0; i < 200 && status === 200; i++) status = (await list('/v1/files')).status;
  const deadline = Date.now() + 10_000;
  while (status === 200 && Date.now() < deadline) status = (await list('/v1/files')).status;
  assert.equal(status, 401, 'a revoked key ends in a running service too');
  assert.equal((await run('key', 'revoke', 'nonsense')).code, 1);
  for (const days of ['1e300', '0', '-1', 'soon', '']) {
    const refused = await run('key', 'create', project, '--name', 'x', '--expires-in', days);
    assert.deepEqual([refused.code, refused.output], [64, ''], days);
    assert.match(refused.errors, /must be more than 0 and at most 36500 days/);
  }
  const brief = await run('key', 'create', project, '--name', 'brief', '--expires-in', '0.3333333');
  assert.equal(brief.code, 0, brief.errors);
  const briefId = /key (\S+)\./.exec(brief.errors)?.[1] ?? '';
  for (const minutes of ['1e300', '-1', 'NaN', '43201']) {
    assert.match(
      (await run('key', 'rotate', briefId, '--overlap', minutes)).errors,
      /must be a number of minutes from 0 to 43200/,
    );
  }
  const rotated = await run('key', 'rotate', briefId, '--overlap', '0.00001');
  const repeated = await run('key', 'rotate', briefId);
  assert.equal(
    repeated.errors,
    `quartermaster: The key ${briefId} has expired, so it cannot be replaced. Run "npm run quartermaster -- key create" to create another one.\n`,
  );
  assert.equal(rotated.code, 0, rotated.errors);
  assert.equal((await run('fsck')).code, 0);
});

test('[isolated] no project can see data of another one', async () => {
  const service = await shared();
  const file = await service.client.files.upload(new Blob(['alpha']), { purpose: 'record_file', name: 'a.txt' });
  const collection = await service.client.collections.create({ name: 'mine' });
  const child = spawn(process.execPath, ['packages/cli/src/main.ts', 'project', 'create', 'other'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...commandEnvironment, QUARTERMASTER_DATA: service.folder },
  });
  const [project] = (await once(child.stdout, 'data')) as [Buffer];
  await once(child, 'close');
  const maker = spawn(
    process.execPath,
    ['packages/cli/src/main.ts', 'key', 'create', String(project).trim(), '--name', 'k'],
    { stdio: ['ignore', 'pipe', 'ignore'], env: { ...commandEnvironment, QUARTERMASTER_DATA: service.folder } },
  );
  const [key] = (await once(maker.stdout, 'data')) as [Buffer];
  await once(maker, 'close');
  const headers = { Authorization: `Bearer ${String(key).trim()}` };
  const paths = [
    `/v1/files/${file.file_id}`,
    `/v1/files/${file.file_id}/content`,
    `/v1/collections/${collection.collection_id}`,
    `/v1/collections/${collection.collection_id}/records`,
    `/v1/collections/${collection.collection_id}/chunks`,
  ];
  for (const path of paths) {
    const answer = await fetch(service.filesUrl + path, { headers });
    assert.equal(answer.status, 404, path);
  }
  const lists = ['/v1/files', '/v1/collections'];
  for (const path of lists) {
    const answer = (await (await fetch(service.filesUrl + path, { headers })).json()) as { fetched_count: number };
    assert.equal(answer.fetched_count, 0, path);
  }
});

test('[operations] readiness reports a missing blob folder as blobs, without its path', async (t) => {
  const { filesUrl, pluginsUrl, folder } = await startService(t, { settings: { LOG_LEVEL: 'fatal' } });
  await rename(join(folder, 'blobs'), join(folder, 'gone'));
  const answer = await fetch(`${filesUrl}/v1/ready`);
  const text = await answer.text();
  assert.equal(answer.status, 503, text);
  const { error } = JSON.parse(text) as { error: { code: string; details: unknown } }; // the error envelope
  assert.deepEqual([error.code, error.details], ['SERVICE_UNAVAILABLE', [{ part: 'blobs' }]]);
  assert.ok(!text.includes(folder), text);
  assert.equal((await fetch(`${pluginsUrl}/v1/ready`)).status, 200, 'the plugins address needs no blobs');
  await rename(join(folder, 'gone'), join(folder, 'blobs'));
  assert.equal((await fetch(`${filesUrl}/v1/ready`)).status, 200);
});

test('[operations] a stop signal lets requests in progress finish, and the service exits with 0', async (t) => {
  const service = await startService(t);
  const { port } = new URL(service.filesUrl);
  const boundary = 'xyz';
  const body =
    `--${boundary}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nrecord_file\r\n` +
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="late.txt"\r\n\r\nlate\r\n--${boundary}--\r\n`;
  const socket = connect(Number(port), '127.0.0.1');
  await once(socket, 'connect');
  socket.write(
    `POST /v1/files HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${service.key}\r\n` +
      `Content-Type: multipart/form-data; boundary=${boundary}\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`,
  );
  const [first] = (await once(socket, 'data')) as [Buffer];
  assert.match(String(first), /^HTTP\/1\.1 100/, 'the upload is being read');
  const stopped = service.stop();
  let answer = '';
  socket.on('data', (text) => {
    answer += text;
  });
  socket.write(body);
  await once(socket, 'close');
  assert.match(answer, /^HTTP\/1\.1 200 /);
  assert.equal(await stopped, 0);

  const again = await startService(t, { folder: service.folder });
  assert.equal((await again.client.files.list()).fetched_count, 1);
});

test('[settings] wrong and unknown settings stop the start, and one error names all of them', async (t) => {
  await assert.rejects(
    startService(t, { settings: { FILES_PORT: 'x', NONSENSE: '1' } }),
    (error: unknown) =>
      error instanceof Error &&
      error.message.includes('QUARTERMASTER_FILES_PORT') &&
      error.message.includes('QUARTERMASTER_NONSENSE'),
  );
});

test('[storage] a data folder or a folder of bundles that all users can write to stops the start', async (t) => {
  const service = await startService(t);
  for (const file of ['in-use.lock', 'store.json']) {
    assert.equal((await stat(join(service.folder, file))).mode & 0o777, 0o600, file);
  }
  const bundles = join(service.folder, 'more-bundles');
  await mkdir(bundles);
  await chmod(bundles, 0o777);
  assert.equal(await service.stop(), 0);
  const settings = { BUNDLES: bundles };
  await assert.rejects(startService(t, { folder: service.folder, settings }), /can write to the folder .*more-bundles/);
  await chmod(service.folder, 0o777);
  await assert.rejects(
    startService(t, { folder: service.folder }),
    /can write to the data folder .*Run .{1,4}chmod o-w/,
  );
  await chmod(service.folder, 0o700);
  await startService(t, { folder: service.folder });
});

test('[storage] a second service on the same data folder refuses to start', async (t) => {
  const service = await startService(t);
  await assert.rejects(startService(t, { folder: service.folder }), /in use by another process/);
});
