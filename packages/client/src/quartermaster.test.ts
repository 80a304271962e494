import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { inspect, promisify } from 'node:util';
import { Quartermaster } from './client.ts';
import { startScriptedServer, success, testKey } from './testing/scripted-server.ts';

test('no text representation of the client contains the key', () => {
  const client = new Quartermaster({ baseUrl: 'http://files.test', apiKey: testKey });
  const shown = [
    String(client),
    JSON.stringify(client),
    inspect(client, { depth: 9, showHidden: true }),
    inspect(client.files, { depth: 9, showHidden: true }),
    JSON.stringify(Object.entries(client)),
  ];
  assert.ok(!shown.join('\n').includes(testKey));
});

test('a malformed key is refused before a request, and the error does not quote it', () => {
  for (const apiKey of [`${testKey}\r\nX-Evil: 1`, `${testKey} `, '', 'schlüssel', 5 as unknown as string]) {
    assert.throws(
      () => new Quartermaster({ baseUrl: 'http://files.test', apiKey }),
      (error) => error instanceof TypeError && !error.message.includes(testKey) && /apiKey must be/.test(error.message),
    );
  }
});

test('a URL with a user, a query, a fragment or another protocol is refused, and the error does not quote it', () => {
  const urls = ['http://me:secret@files.test', 'http://a.test/?b', 'http://a.test/#b', 'ftp://a.test', 'a.test', ''];
  for (const url of urls) {
    for (const options of [{ baseUrl: url }, { baseUrl: 'http://a.test', pluginsUrl: url }]) {
      assert.throws(
        () => new Quartermaster(options),
        (error) => error instanceof TypeError && !error.message.includes('secret') && /Url must be/.test(error.message),
      );
    }
  }
});

test('the base URL may have a path and trailing slashes, and plugins are below it unless they have a URL', async (t) => {
  const { connect, url, requests } = await startScriptedServer(t, success([]));
  for (const baseUrl of [url, `${url}/`, `${url}/quarter/master`, `${url}/quarter/master///`]) {
    await connect({ baseUrl }).files.get('f');
    await connect({ baseUrl }).bundles.list();
  }
  await connect({ pluginsUrl: `${url}/p/` }).bundles.list();
  const prefixes = ['', '', '/quarter/master', '/quarter/master'];
  assert.deepEqual(
    requests.map((request) => request.url),
    [...prefixes.flatMap((prefix) => [`${prefix}/v1/files/f`, `${prefix}/plugins/v1/bundles`]), '/p/v1/bundles'],
  );
  assert.ok(requests.every(({ headers }) => headers.authorization === `Bearer ${testKey}`));
});

test('a client without a key sends no Authorization header', async (t) => {
  const { connect, requests } = await startScriptedServer(t, success([]));
  await connect({ apiKey: undefined }).bundles.list();
  assert.equal(requests[0]?.headers.authorization, undefined);
});

test('a plugin is named by its bundle and its id', async (t) => {
  const { client, requests } = await startScriptedServer(t, success({}));
  for (const name of ['calculator', '/evaluate', 'calculator/', 'a/b/c', '']) {
    assert.throws(() => client.plugins.run(name, {}), /such as "calculator\/evaluate"/);
  }
  await client.plugins.run('calculator/evaluate', { expression: '1' }, { credentials: { $profile: 'x' } });
  assert.deepEqual(JSON.parse(requests[0]?.body ?? ''), {
    bundle_id: 'calculator',
    plugin_id: 'evaluate',
    input_params: { expression: '1' },
    credentials: { $profile: 'x' },
  });
  await client.plugins.output('a/b', { c: 1 }, { credentials: { KEY: 'schlüssel>?' } });
  const sent = String(requests[1]?.headers['x-plugin-credentials']);
  assert.match(sent, /^[\w-]+$/);
  assert.deepEqual(JSON.parse(Buffer.from(sent, 'base64url').toString()), { KEY: 'schlüssel>?' });
  await client.plugins.output('a/b', {}, { credentials: { $profile: 'x' } });
  assert.equal(requests[2]?.headers['x-plugin-profile'], 'x');
});

test('a proxy in the environment does not receive the key', async (t) => {
  const proxy = await startScriptedServer(t, success([]));
  const { url, requests } = await startScriptedServer(t, success([]));
  const program = `import { Quartermaster } from ${JSON.stringify(import.meta.resolve('./client.ts'))};
    await new Quartermaster({ baseUrl: ${JSON.stringify(url)}, apiKey: ${JSON.stringify(testKey)} }).bundles.list();`;
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'];
  const env = { PATH: process.env.PATH, ...Object.fromEntries(names.map((name) => [name, proxy.url])) };
  await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { env });
  assert.deepEqual([requests.length, proxy.requests.length], [1, 0]);
});

test('the package loads no module of Node.js before a path is uploaded', async () => {
  const program = `import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ resolve: (specifier, context, next) => { loaded.push(specifier); return next(specifier, context); } });
    await import(${JSON.stringify(import.meta.resolve('./client.ts'))});
    console.log(JSON.stringify(loaded.filter((specifier) => !specifier.startsWith('.') && !specifier.startsWith('file:'))));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
  assert.deepEqual(JSON.parse(stdout), []);
});
