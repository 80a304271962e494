import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingHttpHeaders, request } from 'node:http';
import { test } from 'node:test';
import { csrfHeader, projectHeader } from '@quartermaster/contract';
import { account, setUp } from '../support/administrator.ts';
import { startService } from '../support/service.ts';

interface RequestOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Sends a request. Unlike `fetch`, it allows any Host and Origin. */
function ask(url: string, { method = 'GET', headers = {}, body }: RequestOptions = {}): Promise<Answer> {
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers: { ...type, ...headers }, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part) => {
        text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    sent.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const sum = { bundle_id: 'calculator', plugin_id: 'evaluate', input_params: { expression: '40+2' }, credentials: {} };
const publicUrl = 'https://plugins.example.com';
const forwarded = { host: 'plugins.example.com' };

test('[exposure] behind a proxy with a public URL, the plugins address requires a key on every path except the probes', async (t) => {
  const { pluginsUrl, key } = await startService(t, { settings: { PUBLIC_PLUGINS_URL: publicUrl } });
  for (const path of ['/v1/bundles', '/v1/plugins', '/v1/runs', '/metrics']) {
    assert.equal((await ask(pluginsUrl + path, { headers: forwarded })).status, 401, path);
  }
  const execute = { method: 'POST', headers: forwarded, body: sum };
  assert.equal((await ask(`${pluginsUrl}/v1/execute`, execute)).status, 401);
  const mcp = { jsonrpc: '2.0', id: 1, method: 'ping' };
  assert.equal((await ask(`${pluginsUrl}/mcp`, { ...execute, body: mcp })).status, 401);
  const withKey = { authorization: `Bearer ${key}` };
  for (const host of ['plugins.example.com', 'another.example.org', '192.0.2.7:8081']) {
    const answer = await ask(`${pluginsUrl}/v1/execute`, { ...execute, headers: { host, ...withKey } });
    assert.equal(answer.status, 200, 'an address that requires a key answers to any Host');
  }
  assert.equal((await ask(`${pluginsUrl}/v1/ready`, { headers: forwarded })).status, 200);
});

test('[exposure] a loopback public URL and an explicit PLUGINS_KEY=off leave the plugins address without a key', async (t) => {
  const local = await startService(t, { settings: { PUBLIC_PLUGINS_URL: 'http://localhost:9000' } });
  assert.equal((await ask(`${local.pluginsUrl}/v1/bundles`)).status, 200);
  const open = await startService(t, { settings: { PUBLIC_PLUGINS_URL: publicUrl, PLUGINS_KEY: 'off' } });
  assert.equal((await ask(`${open.pluginsUrl}/v1/bundles`, { headers: forwarded })).status, 200);
  const foreign = await ask(`${open.pluginsUrl}/v1/bundles`, { headers: { host: 'evil.example' } });
  assert.equal(foreign.status, 403);
});

test('[exposure] without a key, every operation except the probes refuses a foreign Host and a foreign Origin', async (t) => {
  const { pluginsUrl, filesUrl } = await startService(t);
  const document = JSON.parse((await ask(`${pluginsUrl}/openapi.json`)).text) as { paths: Record<string, object> };
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path: path.replace(/\{[^}]+\}/g, 'x') })),
  );
  assert.ok(operations.length > 20, `only ${operations.length} operations`);
  const probes = new Set(['/v1/health_check', '/v1/ready', '/v1/version']);
  const foreign = [{ host: 'evil.example' }, { origin: 'http://evil.example' }, { origin: 'null' }];
  for (const { method, path } of operations) {
    for (const headers of foreign) {
      const answer = await ask(pluginsUrl + path, { method, headers, ...(method === 'POST' ? { body: sum } : {}) });
      assert.equal(answer.status, probes.has(path) ? 200 : 403, `${method} ${path} ${JSON.stringify(headers)}`);
      if (!probes.has(path)) assert.match(answer.text, /QUARTERMASTER_MCP_HOSTS/, 'it says what to do');
    }
  }
  assert.equal((await ask(`${pluginsUrl}/nothing`, { headers: { host: 'evil.example' } })).status, 403);
  const runs = JSON.parse((await ask(`${pluginsUrl}/v1/runs`)).text) as { data: unknown[] };
  assert.deepEqual(runs.data, [], 'nothing ran');
  assert.equal((await ask(`${filesUrl}/v1/limits`, { headers: { host: 'evil.example' } })).status, 401);
});

test('[exposure] pages of the origins in CORS_ORIGINS call both addresses with a key, never with cookies; others get no permission', async (t) => {
  const origin = 'https://app.example.com';
  const service = await startService(t, { settings: { CORS_ORIGINS: `${origin}, http://localhost:3000` } });
  const admin = await setUp(service);
  const authorization = `Bearer ${service.key}`;
  for (const [url, path] of [
    [service.filesUrl, '/v1/files'],
    [service.pluginsUrl, '/v1/bundles'],
    [service.filesUrl, '/plugins/v1/bundles'],
  ] as const) {
    const preflight = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' };
    const before = await ask(url + path, { method: 'OPTIONS', headers: { origin, ...preflight } });
    assert.equal(before.status, 204, path);
    assert.equal(before.headers['access-control-allow-origin'], origin);
    assert.equal(before.headers['access-control-allow-headers'], 'authorization');
    assert.match(before.headers['access-control-allow-methods'] ?? '', /\bPOST\b/);
    const answer = await ask(url + path, { headers: { origin, authorization } });
    assert.deepEqual([answer.status, answer.headers['access-control-allow-origin']], [200, origin], path);
    const refused = await ask(url + path, { headers: { origin, authorization: 'Bearer wrong' } });
    assert.deepEqual([refused.status, refused.headers['access-control-allow-origin']], [401, origin], 'errors too');
    for (const each of [before, answer, refused]) {
      assert.equal(each.headers['access-control-allow-credentials'], undefined);
      assert.match(each.headers.vary ?? '', /\bOrigin\b/);
    }
    const other = await ask(url + path, {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example', ...preflight },
    });
    assert.notEqual(other.status, 204);
    assert.equal(other.headers['access-control-allow-origin'], undefined);
  }
  const cookies = { origin, cookie: admin.cookie, [csrfHeader]: '1', [projectHeader]: admin.projectId };
  for (const path of ['/v1/files', '/v1/session', '/plugins/v1/bundles']) {
    assert.equal((await ask(service.filesUrl + path, { headers: cookies })).status, 403, path);
  }
  assert.equal((await ask(`${service.pluginsUrl}/v1/bundles`, { headers: { origin } })).status, 403, 'without a key');
});

test('[exposure] the service takes the client address from trusted proxies only, and uses it to throttle sign-ins and in the log', async (t) => {
  const trusting = await startService(t, { settings: { TRUSTED_PROXIES: '127.0.0.0/8', LOG_LEVEL: 'info' } });
  const plain = await startService(t, { settings: { LOG_LEVEL: 'info' } });
  for (const service of [trusting, plain]) await setUp(service);
  const signIn = (url: string, client: string, name: string, password = 'wrong password here') =>
    ask(`${url}/v1/session`, { method: 'POST', headers: { 'x-forwarded-for': client }, body: { name, password } });
  for (const { filesUrl } of [trusting, plain]) {
    for (let i = 0; i < 30; i++) assert.equal((await signIn(filesUrl, '203.0.113.9', `nobody ${i}`)).status, 401);
  }
  const rightly = (url: string, client: string) => signIn(url, client, account.name, account.password);
  assert.equal((await rightly(trusting.filesUrl, '203.0.113.9')).status, 429);
  assert.equal((await rightly(trusting.filesUrl, '198.51.100.4')).status, 200, 'another client of the same proxy');
  assert.equal(
    (await rightly(trusting.filesUrl, '192.0.2.1, 203.0.113.9')).status,
    429,
    'a forged first entry is ignored',
  );
  assert.equal((await rightly(plain.filesUrl, '198.51.100.4')).status, 429, 'an untrusted header changes nothing');

  await ask(`${trusting.filesUrl}/v1/version`, { headers: { 'x-forwarded-for': '"},{"level":"fatal' } });
  for (const { process, stop } of [trusting, plain]) await Promise.all([once(process, 'close'), stop()]);
  assert.match(trusting.log(), /"event":"sign_in_refused","client":"203\.0\.113\.9"/);
  assert.ok(trusting.log().includes('"client":"198.51.100.4"'));
  assert.ok(!/203\.0\.113\.9|198\.51\.100\.4/.test(plain.log()));
  for (const line of trusting.log().trim().split('\n')) assert.doesNotThrow(() => JSON.parse(line), line);
});
