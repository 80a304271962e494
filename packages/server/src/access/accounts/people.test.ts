import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { describe, type TestContext, test } from 'node:test';
import { consoleTokenHeader, csrfHeader, projectHeader, type Role } from '@quartermaster/contract';
import { sql } from 'kysely';
import { systemClock } from '../../platform/clock.ts';
import { createNewId } from '../../platform/identifier.ts';
import { tableNames } from '../../storage/database/table-names.ts';
import { temporaryDatabases } from '../../storage/database/testing/temporary-databases.ts';
import { createAccountRepository } from '../../storage/repositories/account-repository.ts';
import { createPeopleRepository } from '../../storage/repositories/people-repository.ts';
import { createProjectRepository } from '../../storage/repositories/project-repository.ts';
import { openOauthApp } from '../oauth/testing/oauth-app.ts';
import { createFlow } from '../oauth/testing/oauth-flow.ts';
import { createSessions } from './sessions.ts';
import { storeAccount } from './testing/stored-account.ts';

/** An account without a password. */
const identified = (subject: string) => ({
  issuer: 'https://id.example',
  subject,
  passwordHash: null,
  browserSecret: null,
});
const email = 'grace.hopper@example.com';

/** An application with the projects `tea`, `mint` and `sage`, and a person who has signed in at an identity provider. */
async function open(t: TestContext) {
  const opened = await openOauthApp(t);
  const { app, database, signingIn, project, person } = opened;
  const projects = createProjectRepository(database);
  for (const id of ['mint', 'sage']) await projects.addProject({ id, name: id, createdAt: 1 }, { most: 10 });
  const identity = { issuer: 'https://id.example', subject: '7', name: 'Grace Hopper', email };
  const signIn = async (subject = '7') => {
    const begun = await signingIn.signInWith({ ...identity, subject }, {}, true, {
      address: '',
      deviceCookie: undefined,
    });
    const [cookie, token] = [begun.token.reveal(), begun.consoleToken.reveal()];
    const headers = { cookie: `quartermaster_session=${cookie}`, [consoleTokenHeader]: token, [csrfHeader]: '1' };
    const send = (
      method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
      url: string,
      payload?: object,
      chosen = project.id,
    ) => app.inject({ method, url, headers: { ...headers, [projectHeader]: chosen }, ...(payload && { payload }) });
    return { id: begun.account.id, headers, send };
  };
  const asAda = (method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', url: string, payload?: object) =>
    app.inject({ method, url, headers: { ...person.headers, cookie: person.cookie }, ...(payload && { payload }) });
  const setRole = async (id: string, role: Role | null, projectId = project.id) => {
    const url = `/v1/projects/${projectId}/members/${id}`;
    const answer = role === null ? await asAda('DELETE', url) : await asAda('PUT', url, { role });
    assert.equal(answer.statusCode, 200, answer.body);
  };
  return { ...opened, signIn, asAda, setRole };
}

const idsIn = (answer: { json(): { data: Array<{ project_id: string }> } }) =>
  answer.json().data.map((one) => one.project_id);

test('each role may do in its own project what it says, and other projects do not exist for it', async (t) => {
  const { signIn, setRole, asAda, project } = await open(t);
  const grace = await signIn();
  const keys = `/v1/projects/${project.id}/keys`;
  const members = `/v1/projects/${project.id}/members`;
  const requests = [
    ['POST', '/v1/needs/collections:read', {}],
    ['POST', '/v1/needs/collections', {}],
    ['POST', '/v1/needs/plugins', {}],
    ['GET', keys],
    ['POST', keys, { name: 'k' }],
    ['GET', '/v1/applications'],
    ['GET', members],
    ['PUT', `${members}/${grace.id}`, { role: 'administrator' }],
    ['GET', '/v1/accounts'],
    ['POST', '/v1/projects', { name: 'new' }],
    ['GET', '/v1/project_deletions'],
  ] as const;
  const statuses = async () => {
    const found = [];
    for (const [method, url, body] of requests) found.push((await grace.send(method, url, body)).statusCode);
    return found.join(' ');
  };
  assert.equal(await statuses(), '404 404 404 404 404 200 404 404 404 404 404');
  const expected = {
    viewer: '200 403 403 403 403 200 403 403 403 403 403',
    member: '200 200 200 403 403 200 403 403 403 403 403',
    administrator: '200 200 200 200 200 200 200 403 403 403 403',
  };
  for (const role of ['viewer', 'member', 'administrator'] as const) {
    await setRole(grace.id, role);
    assert.equal(await statuses(), expected[role], role);
    assert.deepEqual(idsIn(await grace.send('GET', '/v1/projects')), [project.id]);
    // Applications are not those of a project: everybody sees what they allowed themselves.
    for (const [method, url, body] of requests.slice(0, 8).filter(([, url]) => url !== '/v1/applications')) {
      const foreign = await grace.send(method, url.replace(project.id, 'mint'), body, 'mint');
      assert.equal(foreign.statusCode, 404, `${role}: ${method} ${url} in another project`);
    }
    const { data } = (await grace.send('GET', '/v1/session')).json();
    assert.deepEqual([data.name, data.email, data.is_administrator], ['Grace Hopper', email, false]);
    assert.deepEqual(data.projects, [{ project_id: project.id, role }]);
  }
  const [own] = (await grace.send('GET', members)).json().data;
  assert.deepEqual(
    [own.account_id, own.name, own.role, own.source],
    [grace.id, 'Grace Hopper', 'administrator', 'manual'],
  );
  assert.equal((await asAda('PATCH', `/v1/accounts/${grace.id}`, { is_administrator: true })).statusCode, 200);
  const set = await grace.send('PUT', `${members}/${grace.id}`, { role: 'viewer' });
  assert.equal(set.statusCode, 200, 'an administrator of the service has every project anyway');
  assert.deepEqual(idsIn(await grace.send('GET', '/v1/projects')).sort(), ['mint', project.id, 'sage'].sort());
  assert.equal((await grace.send('GET', '/v1/accounts')).statusCode, 200);
});

test('keys are refused where people get rights, and unknown accounts and projects are not found', async (t) => {
  const { app, asAda, project } = await open(t);
  const created = await asAda('POST', `/v1/projects/${project.id}/keys`, { name: 'k', scopes: ['admin'] });
  const headers = { authorization: `Bearer ${created.json().data.key}` };
  for (const url of ['/v1/accounts', `/v1/projects/${project.id}/members`]) {
    assert.equal((await app.inject({ url, headers })).statusCode, 403, url);
  }
  for (const [method, url, body] of [
    ['PUT', `/v1/projects/${project.id}/members/acct00000000000000000000`, { role: 'viewer' }],
    ['PUT', '/v1/projects/absent/members/acct00000000000000000000', { role: 'viewer' }],
    ['GET', '/v1/projects/absent/members'],
    ['DELETE', `/v1/projects/${project.id}/members/acct00000000000000000000`],
    ['PATCH', '/v1/accounts/acct00000000000000000000', {}],
    ['DELETE', '/v1/accounts/acct00000000000000000000'],
  ] as const) {
    assert.equal((await asAda(method, url, body)).statusCode, 404, `${method} ${url}`);
  }
});

/** Opens an event stream. `ended` resolves when the service has ended it. */
async function openStream(address: string, path: string, headers: Record<string, string>) {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    get(address + path, { headers: { host: 'q.example', ...headers } }, resolve).on('error', reject);
  });
  assert.equal(answer.statusCode, 200, path);
  await once(answer, 'data');
  return { ended: new Promise((resolve) => answer.on('error', () => {}).on('close', resolve)) };
}

test('a lower role, a removal and a disabled account reach the session, the token and open streams within a second', async (t) => {
  const opened = await open(t);
  const { app, clock, signIn, setRole, asAda, project } = opened;
  const grace = await signIn();
  const { cookie: own, ...headers } = grace.headers;
  const flow = createFlow({ ...opened, person: { cookie: own, headers } });
  const address = await app.listen({ port: 0, host: '127.0.0.1' });
  /** Changes something, and waits until the streams of the session and of the token have ended. */
  const endStreams = async (token: string, change: () => Promise<unknown>) => {
    const streams = [
      await openStream(address, '/mcp-of-session', { ...grace.headers, [projectHeader]: project.id }),
      await openStream(address, '/mcp', { authorization: `Bearer ${token}` }),
    ];
    await change();
    for (const { ended } of streams) await ended;
    clock.offset += 1000;
  };
  const scopesOf = async (token: string) => (await flow.call(token)).json().scopes?.sort();

  await setRole(grace.id, 'member');
  const first = await flow.signIn();
  assert.deepEqual(await scopesOf(first.access_token), ['collections:read', 'plugins', 'plugins:read']);
  const listed = async () => (await grace.send('GET', '/v1/applications')).json().data;
  const revoke = (id: string) => grace.send('DELETE', `/v1/applications/${id}`);
  const [allowed, ...others] = await listed();
  assert.deepEqual([allowed.account_id, others], [grace.id, []], 'a member ends what it allowed itself');
  const third = await flow.signIn();
  const latest = (await listed()).find((one: typeof allowed) => one.application_id !== allowed.application_id);
  assert.equal((await revoke(latest.application_id)).statusCode, 200);
  clock.offset += 1000;
  assert.equal((await flow.call(third.access_token)).statusCode, 401);
  await endStreams(first.access_token, () => setRole(grace.id, 'viewer'));
  assert.deepEqual(await scopesOf(first.access_token), ['collections:read', 'plugins:read'], 'what the role leaves');
  assert.equal((await grace.send('POST', '/v1/needs/collections', {})).statusCode, 403);
  const { id, cookie } = await flow.begin();
  const wide = await flow.decide(id, cookie, flow.allowed);
  assert.ok(wide.statusCode >= 400 && wide.body.includes('body/scopes'), 'no consent gives more than the role');
  assert.equal((await flow.decide(id, cookie, { ...flow.allowed, project_id: 'mint' })).statusCode, 404);

  await endStreams(first.access_token, () => setRole(grace.id, null));
  assert.equal((await flow.call(first.access_token)).statusCode, 401);
  assert.equal((await flow.refresh(first.refresh_token)).json().error, 'invalid_grant');
  assert.equal((await grace.send('POST', '/v1/needs/collections:read', {})).statusCode, 404);
  await setRole(grace.id, 'member');
  assert.equal((await flow.call(first.access_token)).statusCode, 401, 'what ended does not begin again');

  const second = await flow.signIn();
  await endStreams(second.access_token, () => asAda('PATCH', `/v1/accounts/${grace.id}`, { disabled: true }));
  assert.equal((await flow.call(second.access_token)).statusCode, 401);
  assert.equal((await grace.send('GET', '/v1/session')).statusCode, 401);
  await assert.rejects(signIn(), /no access/);
  assert.equal((await asAda('PATCH', `/v1/accounts/${grace.id}`, { disabled: false })).statusCode, 200);
  assert.equal((await signIn()).id, grace.id);
});

for (const kind of ['SQLite', 'PostgreSQL'] as const) {
  describe(`accounts in ${kind}`, () => {
    test('the last enabled administrator stays, also when two remove each other at once', async (t) => {
      const { database, close } = await temporaryDatabases[kind]();
      t.after(close);
      const people = createPeopleRepository(database);
      const [ada, eve] = [await storeAccount(database), await storeAccount(database, identified('eve'))];
      const enabled = async () =>
        (await people.listAccounts()).filter((one) => one.isAdministrator && one.disabledAt === null).length;
      const outcomes = await Promise.all([
        people.changeAccount(ada.id, { disabled: true }, 1),
        people.changeAccount(eve.id, { isAdministrator: false }, 1),
      ]);
      assert.equal(outcomes.filter((one) => one === 'last').length, 1);
      assert.equal(await enabled(), 1);
      const [last] = (await people.listAccounts()).filter((one) => one.isAdministrator && one.disabledAt === null);
      const id = last?.id ?? '';
      assert.equal(await people.changeAccount(id, { disabled: true }, 1), 'last');
      assert.equal(await people.changeAccount(id, { isAdministrator: false }, 1), 'last');
      assert.equal(await people.eraseAccount(id), id === ada.id ? 'password' : 'last');
      assert.equal(await people.changeAccount('absent', {}, 1), 'absent');
      assert.equal(await enabled(), 1);
    });

    test('an account that is deleted leaves no row with its id, its name or its e-mail address', async (t) => {
      const { database, close } = await temporaryDatabases[kind]();
      t.after(close);
      const people = createPeopleRepository(database);
      await storeAccount(database);
      const grace = await storeAccount(database, { ...identified('grace'), email, isAdministrator: false });
      const [repository, newId] = [createAccountRepository(database), createNewId()];
      const sessions = createSessions({ repository, clock: systemClock, newId });
      await createProjectRepository(database).addProject({ id: 'tea', name: 'tea', createdAt: 1 }, { most: 10 });
      await people.setMember({ id: grace.id, role: 'member' }, 'tea', 1);
      const { issuer, subject } = identified('grace');
      const identity = { issuer, subject, name: 'Grace Hopper', email };
      await sessions.beginAs({ identity, claims: {}, newId: null }, { address: '10.0.0.1' });
      const grant = { id: 'gran', client_id: 'c', account_id: grace.id, project_id: 'tea', resource: 'r' };
      const times = { created_at: 1, expires_at: 2, last_used_at: null, revoked_at: null };
      const lists = { scopes: '[]', collections: null, tools: null };
      await database.write
        .insertInto('oauth_grant')
        .values({ ...grant, ...times, ...lists })
        .execute();
      const record = { model: 'AccessToken', hash: 'h', grant_id: 'gran', project_id: 'tea', consumed_at: null };
      const payload = JSON.stringify({ accountId: grace.id });
      await database.write
        .insertInto('oauth_record')
        .values({ ...record, expires_at: 2, payload })
        .execute();
      const tablesThatTell = async () => {
        const found = [];
        for (const table of tableNames) {
          const { rows } = await sql`select * from ${sql.table(table)}`.execute(database.read);
          if ([grace.id, 'Grace', email].some((text) => JSON.stringify(rows).includes(text))) found.push(table);
        }
        return found.sort();
      };
      assert.deepEqual(await tablesThatTell(), ['account', 'member', 'oauth_grant', 'oauth_record', 'session']);
      assert.deepEqual(await people.eraseAccount(grace.id), { sessions: 1, applications: 1 });
      assert.deepEqual(await tablesThatTell(), []);
    });
  });
}
