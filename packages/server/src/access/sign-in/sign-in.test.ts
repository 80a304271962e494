import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { signInAtProvider } from '../../../../../test/support/identity-provider.ts';
import { readAccess, readRoleRule } from './claimed-access.ts';
import { readReturnPath } from './return-path.ts';
import { openSignInApp, origin } from './testing/sign-in-app.ts';

const verified = { email: 'ada@example.com', email_verified: true, name: 'Ada Lovelace' };

for (const kind of ['SQLite', 'PostgreSQL'] as const) {
  describe(`the sign-in with an identity provider in ${kind}`, () => {
    test('creates the account and a session, returns to the page, and works once', async (t) => {
      const app = await openSignInApp(t, { kind, allowedDomains: ['Example.com'] });
      assert.deepEqual(app.provider.requests, [], 'nothing is requested before the first sign-in');
      app.provider.person.claims = verified;
      const { cookie, url } = await app.begin('?return_to=%2Ffiles');
      assert.match(cookie, /^__Host-quartermaster_sign_in=[\w-]{43}$/);
      const asked = new URL(url).searchParams;
      assert.deepEqual(
        [asked.get('redirect_uri'), asked.get('scope'), asked.get('code_challenge_method')],
        [`${origin}/sign-in/callback`, 'openid email profile', 'S256'],
      );
      const callback = await signInAtProvider(app.provider, url);
      const answers = await Promise.all([app.finish(cookie, callback), app.finish(cookie, callback)]);
      assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [200, 403]);
      const { data } = answers.find(({ statusCode }) => statusCode === 200)?.json() ?? {};
      assert.deepEqual([data.name, data.return_to], ['Ada Lovelace', '/files']);
      assert.deepEqual(await app.accounts(), [{ subject: 'ada', email: 'ada@example.com', is_administrator: 0 }]);
      assert.equal(app.provider.requests.filter((request) => request === 'POST /token').length, 1);
    });
  });
}

test('a sign-in replaces the session of the browser, so that a session that others know ends', async (t) => {
  const app = await openSignInApp(t, { allowedDomains: ['example.com'] });
  app.provider.person.claims = verified;
  const first = await app.signIn();
  const tokens = (answer: typeof first) => ({
    cookie: /__Host-quartermaster_session=([\w-]+)/.exec(String(answer.headers['set-cookie']))?.[1],
    console: String(answer.json().data.console_token),
  });
  await app.sessions.use(tokens(first));
  const second = await app.signIn('', { session: `__Host-quartermaster_session=${tokens(first).cookie}` });
  assert.equal(second.statusCode, 200);
  await assert.rejects(app.sessions.use(tokens(first)), { code: 'SESSION_VALIDATION_FAILED' });
  await app.sessions.use(tokens(second));
  assert.notEqual(tokens(first).cookie, tokens(second).cookie);
});

test('claims that only the UserInfo endpoint has are read there, and give roles', async (t) => {
  const roles = ['writers=tea:member', 'operators=administrator', 'writers=gone:viewer', 'staff=*:viewer'];
  const app = await openSignInApp(t, { hasThinTokens: true, roles });
  const warnings = app.lines.filter((line) => line.includes('unknown_project'));
  assert.deepEqual(
    warnings.map((line) => JSON.parse(line).project),
    ['gone'],
  );
  app.provider.person.claims = { email: 'eve@other.example', groups: ['writers', 'others'] };
  const answer = await app.signIn();
  assert.equal(answer.statusCode, 200, answer.body);
  assert.ok(app.provider.requests.includes('GET /me'));
  assert.deepEqual(await app.accounts(), [{ subject: 'ada', email: null, is_administrator: 0 }]);
  assert.deepEqual(await app.members(), [`${app.project.id} member claim`]);
  app.provider.person.claims = { groups: ['operators'] };
  assert.equal((await app.signIn()).statusCode, 200);
  assert.deepEqual(await app.accounts(), [{ subject: 'ada', email: null, is_administrator: 1 }]);
  assert.deepEqual(await app.members(), [], 'roles are computed at every sign-in');
});

test('the client proves itself as the provider demands, or is public', async (t) => {
  for (const authentication of ['client_secret_basic', 'none'] as const) {
    const app = await openSignInApp(t, { authentication, allowedDomains: ['example.com'] });
    app.provider.person.claims = verified;
    const answer = await app.signIn();
    assert.equal(answer.statusCode, 200, answer.body);
  }
});

test('what the identity provider gives and takes is in the audit log once, with the source claim', async (t) => {
  const app = await openSignInApp(t, {
    roles: ['writers=tea:member', 'readers=tea:viewer', 'operators=administrator'],
  });
  const projectId = app.project.id;
  const id = async () => (await app.database.read.selectFrom('account').select('id').executeTakeFirstOrThrow()).id;
  const seen = new Set<string>();
  const eventsOf = async (groups: string[]) => {
    app.provider.person.claims = { groups };
    assert.equal((await app.signIn()).statusCode, 200);
    const rows = await app.database.read.selectFrom('audit_event').selectAll().orderBy('id').execute();
    const added = rows.filter((row) => !seen.has(row.id) && row.action !== 'signed_in');
    for (const row of rows) seen.add(row.id);
    for (const row of added) assert.deepEqual([row.actor_id, row.object_id], [await id(), await id()]);
    return added.map((row) => [row.action, row.project_id, JSON.parse(row.details)]);
  };
  const source = 'claim';
  assert.deepEqual(await eventsOf(['writers']), [
    ['account.created', null, { source }],
    ['member.set', projectId, { source, role: 'member' }],
  ]);
  assert.deepEqual(await eventsOf(['writers']), [], 'nothing changed');
  assert.deepEqual(await eventsOf(['readers']), [['member.set', projectId, { source, role: 'viewer' }]]);
  const grant = { id: 'gran', client_id: 'c', account_id: await id(), project_id: projectId, resource: 'r' };
  const times = { created_at: 1, expires_at: 2 ** 50, last_used_at: null, revoked_at: null };
  const lists = { scopes: '[]', collections: null, tools: null };
  const granted = app.database.write.insertInto('oauth_grant').values({ ...grant, ...times, ...lists });
  await granted.execute();
  assert.deepEqual(await eventsOf(['operators']), [
    ['account.changed', null, { source, is_administrator: true, ended_applications: 0 }],
    ['member.removed', projectId, { source, ended_applications: 0 }],
  ]);
  assert.deepEqual(await eventsOf([]), [
    ['account.changed', null, { source, is_administrator: false, ended_applications: 1 }],
  ]);
  const manual = { project_id: projectId, account_id: await id(), source: 'manual', created_at: 1 } as const;
  await app.database.write
    .insertInto('member')
    .values({ ...manual, role: 'viewer' })
    .execute();
  assert.deepEqual(await eventsOf(['writers']), [], 'a role that a person set stays');
});

test('only a verified address of an allowed domain, or a role of the claim, lets a new person in', () => {
  const projects = ['tea', 'mint'].map((name) => ({ id: `proj_${name}`, name, createdAt: 1 }));
  const rules = [
    'w=r=tea:member',
    'staff=*:viewer',
    'boss=proj_mint:administrator',
    'op=administrator',
    'x=gone:viewer',
  ]
    .map(readRoleRule)
    .flatMap((rule) => rule ?? []);
  const access = (claims: object, more = {}) =>
    readAccess(
      { iss: 'https://id.example', sub: '7', ...claims },
      { allowedDomains: ['example.com'], rolesClaim: 'groups', rules, projects, ...more },
    );
  const comesIn: Array<[object, boolean]> = [
    [{ email: 'a@example.com', email_verified: true }, true],
    [{ email: 'a@EXAMPLE.com', email_verified: true }, true],
    [{ email: 'a@example.com', email_verified: false }, false],
    [{ email: 'a@example.com' }, false],
    [{ email: 'a@example.com', email_verified: 'true' }, false],
    [{ email: 'a@example.com.evil', email_verified: true }, false],
    [{ email: 'a@example.com@evil', email_verified: true }, false],
    [{ email: 'a@evil@example.com', email_verified: true }, false],
    [{ email: `${'a'.repeat(308)}@example.com.evil.com`, email_verified: true }, false],
    [{ email: 'a@evil-example.com', email_verified: true }, false],
    [{ email: ['a@example.com'], email_verified: true }, false],
    [{ iss: 'https://accounts.google.com', email: 'a@example.com', email_verified: true }, false],
    [{ iss: 'https://accounts.google.com', hd: 'example.com', email: 'a@example.com', email_verified: true }, true],
    [{ groups: ['unknown'] }, false],
    [{ groups: ['x'] }, false],
    [{ groups: 'staff' }, true],
    [{ groups: ['op'] }, true],
    [{ groups: { staff: true } }, false],
  ];
  for (const [claims, expected] of comesIn) assert.equal(access(claims).mayCreate, expected, JSON.stringify(claims));
  const { claims } = access({ groups: ['w=r', 'staff', 'boss'] });
  assert.deepEqual(
    [claims.isAdministrator, ...(claims.roles ?? [])],
    [false, ['proj_tea', 'member'], ['proj_mint', 'administrator']],
  );
  const none = { isAdministrator: false, roles: new Map() };
  assert.deepEqual(
    access({ groups: ['op', 'staff'] }, { rules: [] }).claims,
    none,
    'rules that were removed give nothing',
  );
  assert.deepEqual(access({}, { rules: [], rolesClaim: null }).claims, none);
  assert.equal(access({ email: 'a@example.com', email_verified: false }).identity.email, null);
  assert.throws(() => access({ _claim_names: { groups: 'src1' }, _claim_sources: {} }), /too many values/);
  for (const text of ['', 'a', 'a=tea', 'a=tea:owner', '=tea:member', 'a=:member']) {
    assert.equal(readRoleRule(text), null, text);
  }
});

test('a sign-in returns only to a page of the console', () => {
  const isPage = (path: string) => path === '/' || path === '/files' || path.startsWith('/runs/');
  for (const path of ['/', '/files', '/files?a=b%2Fc', '/runs/run1']) assert.equal(readReturnPath(path, isPage), path);
  const refused = ['//evil.example', '/\\evil.example', 'https:evil.example', 'https://evil.example/files', '\\\\evil'];
  refused.push(
    '/runs/../v1/files',
    '/runs/%2e%2e/files',
    '/runs/..%2f',
    '/\t/evil',
    ' /files',
    '/files#x',
    'files',
    '/v1/files',
  );
  refused.push(
    '/oauth/authorize?x=1',
    '/files/..//evil.example',
    `/runs/${'a'.repeat(2000)}`,
    'javascript:alert(1)',
    '/runs/\n',
  );
  for (const text of refused) {
    assert.equal(readReturnPath(text, isPage), '/', JSON.stringify(text));
  }
  assert.equal(readReturnPath(undefined, isPage), '/');
});
