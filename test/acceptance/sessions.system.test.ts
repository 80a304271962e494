import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  type ApiKey,
  consoleTokenHeader,
  csrfHeader,
  type NewApiKey,
  type NewSession,
  type Project,
  projectHeader,
} from '@quartermaster/contract';
import { account, cookieOf, setUp, setUpToken } from '../support/administrator.ts';
import { servedOperations } from '../support/operations.ts';
import { type Ending, type ServiceRequest, share, startService } from '../support/service.ts';

const settings = { LOG_LEVEL: 'warn' };
const json = { 'Content-Type': 'application/json' };

async function start(t: Ending, options: ServiceRequest = {}) {
  const service = await startService(t, { settings: { ...settings, ...options.settings } });
  return { service, admin: await setUp(service) };
}
const shared = share((t) => start(t));
/** Routes in the form of other programs have the code at the top. */
const codeOf = async (answer: Response) => {
  const body = (await answer.json()) as { code?: string; error?: { code: string } };
  return body.error?.code ?? body.code;
};
const dataOf = async <T>(answer: Response) => ((await answer.json()) as { data: T }).data; // the contract of the path

test('[session] a new service has only a setup link and no account, and nothing of the link remains after its use', async (t) => {
  const service = await startService(t, { settings });
  const url = `${service.filesUrl}/v1/session`;
  for (const password of ['', 'admin', 'password', service.key]) {
    const answer = await fetch(url, {
      method: 'POST',
      headers: json,
      body: JSON.stringify({ name: 'admin', password }),
    });
    assert.ok([401, 422].includes(answer.status));
  }
  assert.equal((await stat(join(service.folder, 'setup-link'))).mode & 0o777, 0o600);
  const token = await setUpToken(service);
  assert.equal((await fetch(`${service.filesUrl}/v1/setup`)).status, 200);

  await setUp(service);
  for (const method of ['GET', 'POST']) {
    const body = method === 'GET' ? null : JSON.stringify({ token, ...account });
    const gone = await fetch(`${service.filesUrl}/v1/setup`, { method, headers: method === 'GET' ? {} : json, body });
    assert.equal(gone.status, 404);
    assert.equal(await codeOf(gone), 'OBJECT_NOT_FOUND');
  }
  assert.ok(!service.log().includes(token) && !service.log().includes(account.password));
});

test('[session] its cookie is HttpOnly and SameSite, and Secure with the prefix __Host- over HTTPS, and every response has the protective headers', async (t) => {
  for (const [publicUrl, prefix, path, secure] of [
    ['', '', '/', false],
    ['https://console.example', '__Host-', '/', true],
    // Browsers accept `__Host-` only with the path `/`.
    ['https://console.example/tools', '__Secure-', '/tools/', true],
  ] as const) {
    const { service, admin } = await start(t, { settings: { PUBLIC_FILES_URL: publicUrl } });
    const signIn = await fetch(`${service.filesUrl}/v1/session`, {
      method: 'POST',
      // The proxy may send another Host than the browser, so only the setting names this origin.
      headers: publicUrl === '' ? json : { ...json, origin: new URL(publicUrl).origin },
      body: JSON.stringify(account),
    });
    const [session = ''] = signIn.headers.getSetCookie();
    assert.match(session, new RegExp(`^${prefix}quartermaster_session=[\\w-]{43}; Max-Age=43200; Path=${path};`));
    assert.ok(session.length < 4096 && session.includes('; HttpOnly; SameSite=Strict'));
    assert.equal(session.includes('; Secure'), secure);
    assert.ok(!session.includes('Domain'));

    const api = ['/v1/session', '/v1/projects', '/v1/files', '/v1/health_check', '/openapi.json', '/nothing'];
    const pages = [
      '/',
      '/setup',
      '/files',
      '/collections/x/records/y',
      '/catalogue',
      '/runs',
      '/settings',
      '/docs',
      '/docs/api',
    ];
    const paths = [...api, ...pages, '/favicon.svg', '/assets/nothing.js'];
    for (const path of paths) {
      const { headers } = await admin.ask('GET', path);
      const policy = headers.get('content-security-policy') ?? '';
      assert.match(policy, /default-src 'none'/, path);
      assert.match(policy, /frame-ancestors 'none'/, path);
      assert.ok(!/unsafe-(inline|eval)/.test(policy), path);
      assert.equal(headers.get('x-content-type-options'), 'nosniff', path);
      assert.equal(headers.get('referrer-policy'), 'no-referrer', path);
      assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin', path);
      assert.match(headers.get('cache-control') ?? '', /^no-(store|cache)/, path);
      assert.equal(headers.get('strict-transport-security') !== null, secure, path);
    }
  }
});

test('[session] each sign-in sets a new cookie and ends the earlier session, and a sign-out ends the session', async (t) => {
  const { service, admin } = await start(t);
  const signIn = (headers: Record<string, string> = {}) =>
    fetch(`${service.filesUrl}/v1/session`, {
      method: 'POST',
      headers: { ...json, ...headers },
      body: JSON.stringify(account),
    });
  const begin = async (headers: Record<string, string> = {}) => {
    const answer = await signIn(headers);
    const { console_token } = await dataOf<NewSession>(answer);
    return { cookie: cookieOf(answer), [consoleTokenHeader]: console_token };
  };
  const mine = { cookie: admin.cookie, [consoleTokenHeader]: admin.consoleToken };
  const isAlive = async (headers: Record<string, string>) => (await admin.ask('GET', '/v1/session', { headers })).ok;
  const first = await begin();
  const second = await begin({ cookie: first.cookie });
  assert.notDeepEqual(first, second);
  assert.deepEqual([await isAlive(first), await isAlive(second), await isAlive(mine)], [false, true, true]);

  const out = await admin.ask('DELETE', '/v1/session', { headers: second });
  assert.match(out.headers.getSetCookie()[0] ?? '', /^quartermaster_session=; Max-Age=0;/);
  assert.equal(out.headers.get('clear-site-data'), '"cache", "storage"');
  assert.deepEqual([await isAlive(second), await isAlive(mine)], [false, true]);
  assert.equal(await codeOf(await admin.ask('GET', '/v1/files', { headers: second })), 'SESSION_VALIDATION_FAILED');

  const third = await begin();
  await admin.ask('DELETE', '/v1/session?everywhere=true');
  assert.deepEqual([await isAlive(third), await isAlive(mine)], [false, false]);
});

test('[session] operations that change something cannot be called from another origin or without the header', async () => {
  const { service, admin } = await shared();
  const document = (await (await fetch(`${service.filesUrl}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, unknown>>;
  };
  const unsafe = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations)
      .filter((method) => !['get', 'head'].includes(method))
      .map((method) => ({ method: method.toUpperCase(), path: path.replace(/\{[^}]+\}/g, 'x') })),
  );
  assert.ok(unsafe.length >= 15, `only ${unsafe.length} operations`);
  const host = new URL(service.filesUrl).host;
  const attempts: ReadonlyArray<Record<string, string>> = [
    { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
    { 'sec-fetch-site': 'same-site', origin: `http://127.0.0.1:1` },
    { 'sec-fetch-site': 'none' },
    { origin: 'null' },
    { origin: `https://${host}.evil.example` },
    { origin: 'https://evil.example', host },
  ];
  for (const { method, path } of unsafe) {
    const begins = ['/v1/setup', '/v1/session'].includes(path) && method === 'POST';
    for (const headers of attempts) {
      const answer = await admin.ask(method, path, { headers });
      assert.equal(await codeOf(answer), 'PERMISSION_DENIED', `${method} ${path} ${JSON.stringify(headers)}`);
    }
    if (begins) continue;
    const bare = await fetch(service.filesUrl + path, {
      method,
      headers: { cookie: admin.cookie, [projectHeader]: admin.projectId },
    });
    assert.equal(await codeOf(bare), 'PERMISSION_DENIED', `${method} ${path} without ${csrfHeader}`);
  }
  assert.ok((await admin.ask('GET', '/v1/session')).ok, 'the session was not ended by any of them');
});

test('[session] the cookie without the token of the console opens no operation of the API', async () => {
  const { service, admin } = await shared();
  const operations = (await servedOperations(service)).filter(({ isPublic }) => !isPublic);
  assert.ok(operations.length >= 50, `only ${operations.length} operations`);
  for (const { method, url } of operations) {
    for (const token of ['', 'x'.repeat(43), `${admin.consoleToken}x`]) {
      const cookieAlone = { cookie: admin.cookie, [csrfHeader]: '1', [projectHeader]: admin.projectId };
      const headers = token === '' ? cookieAlone : { ...cookieAlone, [consoleTokenHeader]: token };
      const answer = await fetch(url, { method, headers });
      // The operation about the key of the request takes no session.
      const isAboutKey = new URL(url).pathname === '/v1/key';
      const expected = isAboutKey ? 'APIKEY_VALIDATION_FAILED' : 'SESSION_VALIDATION_FAILED';
      assert.equal(await codeOf(answer), expected, `${method} ${url}`);
    }
  }
  assert.ok((await admin.ask('GET', '/v1/session')).ok, 'the session was not ended by any of them');
});

test('[session] a session has the permissions of a key in the project that it names, and reads may name the project in the query', async () => {
  const { service, admin } = await shared();
  await service.client.files.upload(new Blob(['text']), { purpose: 'record_file', name: 'a.txt' });
  const list = await dataOf<Array<{ file_id: string }>>(await admin.ask('GET', '/v1/files'));
  assert.equal(list.length, 1);
  const path = `/v1/files/${list[0]?.file_id}/content`;
  const session = { cookie: admin.cookie, [consoleTokenHeader]: admin.consoleToken };
  const plain = (body: string) => fetch(service.filesUrl + body, { headers: session });
  assert.equal(await (await plain(`${path}?project_id=${admin.projectId}`)).text(), 'text');
  assert.equal(await codeOf(await plain(path)), 'REQUEST_VALIDATION_ERROR');

  const other = await dataOf<Project>(await admin.ask('POST', '/v1/projects', { body: { name: 'other' } }));
  const elsewhere = { headers: { [projectHeader]: other.project_id } };
  assert.equal((await dataOf<unknown[]>(await admin.ask('GET', '/v1/files', elsewhere))).length, 0);
  assert.equal((await admin.ask('GET', path, elsewhere)).status, 404);
  const unknown = await admin.ask('GET', '/v1/files', { headers: { [projectHeader]: 'projnothing' } });
  assert.equal(await codeOf(unknown), 'OBJECT_NOT_FOUND');
  assert.equal((await admin.ask('DELETE', `/v1/files/${list[0]?.file_id}`)).status, 200);
});

test('[session] the files address serves the plugins address at /plugins to sessions and keys only', async () => {
  const { service, admin } = await shared();
  const direct = await fetch(`${service.pluginsUrl}/v1/bundles`);
  const mounted = await admin.ask('GET', '/plugins/v1/bundles');
  assert.equal(await mounted.text(), await direct.text());
  assert.equal(mounted.headers.get('etag'), direct.headers.get('etag'));
  const body = { bundle_id: 'calculator', plugin_id: 'evaluate', input_params: { expression: '6*7' }, credentials: {} };
  const run = await dataOf<{ data: { result: unknown } }>(await admin.ask('POST', '/plugins/v1/execute', { body }));
  assert.equal(Number(run.data.result), 42);

  const withKey = await fetch(`${service.filesUrl}/plugins/v1/execute`, {
    method: 'POST',
    headers: { ...json, Authorization: `Bearer ${service.key}` },
    body: JSON.stringify(body),
  });
  assert.equal(withKey.status, 200);
  assert.equal((await fetch(`${service.filesUrl}/plugins/v1/bundles`)).status, 401);
  assert.equal((await admin.ask('GET', '/plugins/v1/nothing')).status, 404);
  assert.equal((await admin.ask('GET', '/v1/bundles')).status, 404, 'the files address itself has no bundles');
});

test('[keys] an administrator, or a key with scope admin, creates a key with scopes and an expiry, sees it once, rotates it and revokes it', async () => {
  const { service, admin } = await shared();
  const keys = `/v1/projects/${admin.projectId}/keys`;
  const body = { name: 'uploader', scopes: ['files'], expires_timestamp: Date.now() + 3_600_000 };
  const created = await dataOf<NewApiKey>(await admin.ask('POST', keys, { body }));
  const use = (key: string) => fetch(`${service.filesUrl}/v1/files`, { headers: { Authorization: `Bearer ${key}` } });
  assert.equal((await use(created.key)).status, 200);
  assert.equal(created.expires_timestamp, body.expires_timestamp);
  const listText = await (await admin.ask('GET', keys)).text();
  assert.ok(!listText.includes(created.key) && listText.includes(created.hint));

  const rotate = await admin.ask('POST', `${keys}/${created.key_id}/rotate`, { body: { overlap_seconds: 0 } });
  const rotated = await dataOf<NewApiKey>(rotate);
  assert.deepEqual([(await use(created.key)).status, (await use(rotated.key)).status], [401, 200]);
  await admin.ask('DELETE', `${keys}/${rotated.key_id}`);
  assert.equal((await use(rotated.key)).status, 401, 'at once, not at the next refresh');
  const states = (await dataOf<ApiKey[]>(await admin.ask('GET', keys))).map(({ name, state }) => `${name} ${state}`);
  assert.deepEqual(states, ['uploader revoked', 'uploader expired', 'first active']);

  const past = await admin.ask('POST', keys, { body: { ...body, expires_timestamp: 1 } });
  assert.equal(await codeOf(past), 'REQUEST_VALIDATION_ERROR');
  const never = await admin.ask('POST', keys, { body: { ...body, expires_timestamp: 1e300 } });
  assert.equal(await codeOf(never), 'REQUEST_VALIDATION_ERROR');
  const dead = await admin.ask('POST', `${keys}/${created.key_id}/rotate`, { body: {} });
  assert.equal(await codeOf(dead), 'OBJECT_NOT_FOUND', 'a key that has ended has no successor that works');
});

test('[keys] a key with scope admin manages only its own project and grants only its own scopes, and other keys manage nothing', async (t) => {
  const { service, admin } = await start(t);
  const keys = `/v1/projects/${admin.projectId}/keys`;
  const other = await dataOf<Project>(await admin.ask('POST', '/v1/projects', { body: { name: 'other' } }));
  const createKey = async (scopes: string[]) =>
    (await dataOf<NewApiKey>(await admin.ask('POST', keys, { body: { name: scopes.join(), scopes } }))).key;
  const ask = (key: string, method: string, path: string, wanted?: unknown) =>
    fetch(service.filesUrl + path, {
      method,
      headers: { ...(wanted === undefined ? {} : json), Authorization: `Bearer ${key}` },
      body: wanted === undefined ? null : JSON.stringify(wanted),
    });
  const manager = await createKey(['admin', 'files']);
  const mine = await dataOf<Project[]>(await ask(manager, 'GET', '/v1/projects'));
  assert.deepEqual(
    mine.map(({ project_id }) => project_id),
    [admin.projectId],
  );
  assert.equal((await ask(manager, 'POST', keys, { name: 'x', scopes: ['files'] })).status, 200);
  assert.equal((await ask(manager, 'POST', keys, { name: 'x', scopes: ['plugins'] })).status, 403);
  assert.equal((await ask(manager, 'POST', '/v1/projects', { name: 'mine' })).status, 403);
  for (const path of [`/v1/projects/${other.project_id}/keys`, '/v1/projects/nothing/keys']) {
    assert.equal((await ask(manager, 'GET', path)).status, 404);
    assert.equal((await ask(manager, 'POST', path, { name: 'x', scopes: ['files'] })).status, 404);
  }
  const plain = await createKey(['files', 'collections', 'plugins']);
  for (const path of ['/v1/projects', keys]) assert.equal((await ask(plain, 'GET', path)).status, 403);
  assert.equal((await ask(plain, 'GET', '/v1/session')).status, 401);
});
