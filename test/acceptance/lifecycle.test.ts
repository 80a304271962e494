import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmod, mkdir, rename, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { compileSerializer } from '../../packages/server/src/platform/http/create-app.ts';
import { compileValidator } from '../../packages/server/src/platform/http/validation.ts';
import { readApiDocument } from '../support/api-document.ts';
import { send } from '../support/http.ts';
import { runCommand } from '../support/run-command.ts';
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
  assert.equal((await send(`${filesUrl}/metrics`)).status, 401);
  assert.match((await send(`${filesUrl}/metrics`, { key })).text, /quartermaster_http_requests_total/);
});

// A schema is compiled at the first request that needs it, so a start does not detect an invalid one.
test('[operations] every schema of both addresses can be compiled', async () => {
  const { filesUrl, pluginsUrl } = await shared();
  const compiled = { received: 0, sent: 0 };
  for (const address of [filesUrl, pluginsUrl]) {
    const document = await readApiDocument<{ paths: Record<string, Record<string, Operation>> }>(address);
    for (const [url, operations] of Object.entries(document.paths)) {
      for (const [method, { requestBody, parameters = [], responses }] of Object.entries(operations)) {
        const about = { method, url, httpStatus: '200' };
        const received = [...schemasOf(requestBody), ...parameters.map(({ schema }) => schema)];
        for (const schema of received) compileValidator({ ...about, schema, httpPart: 'body' })({});
        const sent = Object.values(responses).flatMap(schemasOf);
        for (const schema of sent) assert.doesNotThrow(() => serialize(schema, about), `${method} ${url}`);
        compiled.received += received.length;
        compiled.sent += sent.length;
      }
    }
  }
  assert.ok(compiled.received > 100 && compiled.sent > 50, JSON.stringify(compiled));
});

test('[separate] neither address serves the paths of the other', async () => {
  const { filesUrl, pluginsUrl, key } = await shared();
  for (const [address, other, paths] of [
    [pluginsUrl, filesUrl, ['/v1/bundles', '/v1/plugins']],
    [filesUrl, pluginsUrl, ['/v1/files', '/v1/collections', '/v1/limits']],
  ] as const) {
    for (const path of paths) {
      assert.equal((await send(other + path, { key })).status, 404);
      assert.equal((await send(address + path, { key })).status, 200);
    }
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
  assert.equal((await send(`${url}/v1/bundles`)).status, 401);
  const bundles = await send(`${url}/v1/bundles`, { key });
  assert.equal(bundles.status, 200);
  const icon: string = bundles.body.data[0].icon_url;
  assert.notEqual(new URL(icon).hostname, '0.0.0.0', 'URLs in answers name an address of the machine');
  assert.equal((await send(icon, { key })).status, 200, icon);
});

test('[keys] the first key is printed once and stored in a file that only its owner can read, and commands manage keys', async () => {
  const service = await shared();
  assert.equal((await stat(join(service.folder, 'first-key'))).mode & 0o777, 0o600);
  assert.equal((await stat(service.folder)).mode & 0o077, 0);
  const run = (...args: string[]) => runCommand(service, ...args);
  const project = (await run('project', 'create', 'second')).output;
  const created = await run('key', 'create', project, '--name', 'reader', '--scopes', 'files');
  assert.equal(created.code, 0, created.errors);
  const list = (path: string) => send(service.filesUrl + path, { key: created.output });
  assert.equal((await list('/v1/files')).status, 200, 'a key made beside the running service works immediately');
  assert.equal((await list('/v1/collections')).status, 403, 'a key works for its scopes only');
  const keyId = (await run('key', 'list', project)).output.split('\n')[1]?.split(' ')[0] ?? '';
  assert.equal((await run('key', 'revoke', keyId)).code, 0);
  // The service notices the change of another process within seconds.
  let status = 200;
  while (status === 200) status = (await list('/v1/files')).status;
  assert.equal(status, 401, 'a revoked key ends in a running service too');
  const brief = await run('key', 'create', project, '--name', 'brief', '--expires-in', '0.3333333');
  assert.equal(brief.code, 0, brief.errors);
  const briefId = /key (\S+)\./.exec(brief.errors)?.[1] ?? '';
  const rotated = await run('key', 'rotate', briefId, '--overlap', '0.00001');
  const repeated = await run('key', 'rotate', briefId);
  assert.equal(
    repeated.errors,
    `quartermaster: The key ${briefId} has expired, so it cannot be replaced. Run "npm run quartermaster -- key create" to create another one.\n`,
  );
  assert.equal(rotated.code, 0, rotated.errors);
});

test('[isolated] no project can see data of another one', async () => {
  const service = await shared();
  const file = await service.client.files.upload(new Blob(['alpha']), { purpose: 'record_file', name: 'a.txt' });
  const collection = await service.client.collections.create({ name: 'mine' });
  const { output: project } = await runCommand(service, 'project', 'create', 'other');
  const { output: key } = await runCommand(service, 'key', 'create', project, '--name', 'k');
  const paths = [
    `/v1/files/${file.file_id}`,
    `/v1/files/${file.file_id}/content`,
    `/v1/collections/${collection.collection_id}`,
    `/v1/collections/${collection.collection_id}/records`,
    `/v1/collections/${collection.collection_id}/chunks`,
  ];
  for (const path of paths) {
    assert.equal((await send(service.filesUrl + path, { key })).status, 404, path);
  }
  const lists = ['/v1/files', '/v1/collections'];
  for (const path of lists) {
    assert.equal((await send(service.filesUrl + path, { key })).body.fetched_count, 0, path);
  }
});

test('[operations] readiness reports a missing blob folder as blobs, without its path', async () => {
  const { filesUrl, pluginsUrl, folder } = await shared();
  await rename(join(folder, 'blobs'), join(folder, 'gone'));
  const { status, text, body } = await send(`${filesUrl}/v1/ready`);
  assert.equal(status, 503, text);
  assert.deepEqual([body.error.code, body.error.details], ['SERVICE_UNAVAILABLE', [{ part: 'blobs' }]]);
  assert.ok(!text.includes(folder), text);
  assert.equal((await fetch(`${pluginsUrl}/v1/ready`)).status, 200, 'the plugins address needs no blobs');
  await rename(join(folder, 'gone'), join(folder, 'blobs'));
  assert.equal((await fetch(`${filesUrl}/v1/ready`)).status, 200);
});

// The shared service ends here.
test('[operations] a stop signal lets requests in progress finish, and the service exits with 0', async (t) => {
  const service = await shared();
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

  const again = await startService(t, { folder: service.folder, key: service.key });
  assert.deepEqual((await again.client.files.list({ name: 'late.txt' })).fetched_count, 1);
  assert.equal(await again.stop(), 0);
});

test('[storage] a data folder or a folder of bundles that all users can write to stops the start', async (t) => {
  const service = await shared();
  for (const file of ['in-use.lock', 'store.json']) {
    assert.equal((await stat(join(service.folder, file))).mode & 0o777, 0o600, file);
  }
  const bundles = join(service.folder, 'more-bundles');
  await mkdir(bundles);
  await chmod(bundles, 0o777);
  const settings = { BUNDLES: bundles };
  await assert.rejects(startService(t, { folder: service.folder, settings }), /can write to the folder .*more-bundles/);
  await chmod(service.folder, 0o777);
  await assert.rejects(
    startService(t, { folder: service.folder }),
    /can write to the data folder .*Run .{1,4}chmod o-w/,
  );
});

interface Content {
  readonly content?: Readonly<Record<string, { schema?: object }>>;
}

interface Operation {
  readonly requestBody?: Content;
  readonly parameters?: ReadonlyArray<{ name: string; in: string; schema: object }>;
  readonly responses: Readonly<Record<string, Content>>;
}

function schemasOf(content: Content | undefined): object[] {
  // The schema of an upload is only documentation, because its bytes are not JSON.
  const { 'multipart/form-data': _, ...bodies } = content?.content ?? {};
  return Object.values(bodies).flatMap(({ schema }) => (schema === undefined ? [] : [schema]));
}

/** Checks that the schema compiles. Whether an empty object is valid does not matter. */
function serialize(schema: object, about: { method: string; url: string; httpStatus: string }): void {
  try {
    compileSerializer({ ...about, schema })({});
  } catch (error) {
    if (!/is required!|does not match schema definition/.test((error as Error).message)) throw error;
  }
}
