import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { consoleTokenHeader, csrfHeader, type NewSession, projectHeader, type Session } from '@quartermaster/contract';
import { account, beginSession, setUp } from '../support/administrator.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { startService } from '../support/service.ts';

async function start(t: TestContext, database?: string) {
  const service = await startService(t, { settings: database === undefined ? {} : { DATABASE_URL: database } });
  const admin = await setUp(service);
  /** Signs in from another browser. Returns its headers and its session. */
  const signIn = (userAgent: string) => beginSession(service, { 'User-Agent': userAgent });
  const list = async (query = '', headers: Record<string, string> = {}) => {
    const answer = await admin.ask('GET', `/v1/sessions${query}`, { headers });
    return (await answer.json()) as { data: Session[]; fetched_count: number; has_more: boolean };
  };
  const codeOf = async (answer: Response) => [
    answer.status,
    ((await answer.json()) as { error?: { code: string } }).error?.code,
  ];
  return { service, admin, signIn, list, codeOf };
}

for (const kind of ['SQLite', 'PostgreSQL'] as const) {
  test(`[session] an administrator lists sessions and ends one, which both addresses refuse immediately, in ${kind}`, async (t) => {
    const database = kind === 'PostgreSQL' ? await createTestDatabase() : undefined;
    t.after(() => database?.drop());
    const { admin, signIn, list, codeOf } = await start(t, database?.url);
    const [laptop, phone] = [await signIn('a laptop'), await signIn('a phone')];
    const { data, ...envelope } = await list('', laptop.headers);
    assert.deepEqual(envelope, { status: 'success', fetched_count: 3, has_more: false });
    assert.deepEqual(
      data.map(({ user_agent, client_address, current }) => [user_agent, client_address, current]).slice(0, 2),
      [
        ['a phone', '127.0.0.1', false],
        ['a laptop', '127.0.0.1', true],
      ],
    );
    assert.deepEqual([data[0]?.session_id, data[1]?.session_id], [phone.data.session_id, laptop.data.session_id]);
    const page = await list(`?limit=1&order=asc&after=${laptop.data.session_id}`);
    assert.deepEqual([page.data.map(({ session_id }) => session_id), page.has_more], [[phone.data.session_id], false]);

    const paths = ['/v1/session', '/v1/files', '/plugins/v1/bundles'];
    const statuses = async (headers: Record<string, string>) =>
      Promise.all(paths.map(async (path) => (await admin.ask('GET', path, { headers })).status));
    assert.deepEqual(await statuses(phone.headers), [200, 200, 200]);
    const ended = await admin.ask('DELETE', `/v1/sessions/${phone.data.session_id}`);
    assert.deepEqual([ended.status, ended.headers.getSetCookie()], [200, []]);
    assert.deepEqual(await statuses(phone.headers), [401, 401, 401]);
    assert.deepEqual(await statuses(laptop.headers), [200, 200, 200]);
    assert.equal((await list()).fetched_count, 2);
    for (const id of [phone.data.session_id, 'nothing', '%00', 'x'.repeat(200)]) {
      const answer = await admin.ask('DELETE', `/v1/sessions/${id}`);
      assert.deepEqual(await codeOf(answer), [404, 'OBJECT_NOT_FOUND'], id);
    }

    const own = await admin.ask('DELETE', `/v1/sessions/${laptop.data.session_id}`, { headers: laptop.headers });
    assert.match(own.headers.getSetCookie()[0] ?? '', /^quartermaster_session=; Max-Age=0;/);
    assert.deepEqual(await statuses(laptop.headers), [401, 401, 401]);
  });
}

test('[session] API keys, pages of other origins and the cookie alone can neither list sessions nor end one', async (t) => {
  const { service, admin, signIn, list, codeOf } = await start(t);
  const { data } = await signIn('a phone');
  const { cookie, consoleToken, projectId } = admin;
  const session = { cookie, [consoleTokenHeader]: consoleToken, [projectHeader]: projectId };
  const attempts = [
    ['GET', { Authorization: `Bearer ${service.key}` }, [401, 'SESSION_VALIDATION_FAILED']],
    ['DELETE', { Authorization: `Bearer ${service.key}`, [csrfHeader]: '1' }, [401, 'SESSION_VALIDATION_FAILED']],
    ['GET', { cookie }, [401, 'SESSION_VALIDATION_FAILED']],
    ['DELETE', { cookie, [csrfHeader]: '1' }, [401, 'SESSION_VALIDATION_FAILED']],
    ['DELETE', session, [403, 'PERMISSION_DENIED']],
    ['GET', { ...session, origin: 'https://evil.example' }, [403, 'PERMISSION_DENIED']],
    ['DELETE', { ...session, [csrfHeader]: '1', origin: 'https://evil.example' }, [403, 'PERMISSION_DENIED']],
  ] as const;
  for (const [method, headers, expected] of attempts) {
    const path = method === 'GET' ? '/v1/sessions' : `/v1/sessions/${data.session_id}`;
    const answer = await fetch(service.filesUrl + path, { method, headers });
    assert.deepEqual(await codeOf(answer), expected, `${method} ${Object.keys(headers)}`);
  }
  assert.equal((await list()).fetched_count, 2);
});

test('[session] the log names each session that begins or ends, and the metrics count sessions that ended because of the limit', async (t) => {
  const { service, admin, signIn, list } = await start(t);
  const [first, replaced] = [(await list()).data[0], await signIn('a laptop')];
  const again = await fetch(`${service.filesUrl}/v1/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', cookie: replaced.headers.cookie },
    body: JSON.stringify(account),
  });
  const { data: successor } = (await again.json()) as { data: NewSession };
  await admin.ask('DELETE', `/v1/sessions/${successor.session_id}`);
  const signedIn = [];
  for (let i = 0; i < 20; i += 1) signedIn.push(await signIn('many'));
  assert.equal((await admin.ask('GET', '/v1/session')).status, 401);
  const last = signedIn.at(-1);
  const metrics = await fetch(`${service.filesUrl}/metrics`, { headers: { Authorization: `Bearer ${service.key}` } });
  assert.match(await metrics.text(), /^quartermaster_limit_exceeded_total\{limit="sessions_of_account"\} 1$/m);
  await admin.ask('DELETE', '/v1/session', { headers: last?.headers ?? {} });
  assert.equal(await service.stop(), 0);
  const lines = service
    .log()
    .split('\n')
    .flatMap((line): Array<Record<string, unknown>> => (line.startsWith('{') ? [JSON.parse(line)] : []));
  const of = (event: string) => lines.filter((line) => line.event === event);
  assert.deepEqual(
    of('session_ended').map(({ msg, session_id, reason, client }) => [msg, session_id, reason, client]),
    [
      ['session ended', replaced.data.session_id, 'replaced', '127.0.0.1'],
      ['session ended', successor.session_id, 'ended', '127.0.0.1'],
      ['session ended', first?.session_id, 'too_many', '127.0.0.1'],
    ],
  );
  assert.deepEqual(
    of('signed_in').map(({ session_id }) => session_id),
    [replaced.data, successor, ...signedIn.map(({ data }) => data)].map(({ session_id }) => session_id),
  );
  assert.equal(of('signed_out')[0]?.session_id, last?.data.session_id);
  const accounts = new Set([...of('session_ended'), ...of('signed_out')].map((line) => line.account));
  assert.deepEqual([...accounts], [last?.data.account_id]);
});
