import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { consoleTokenHeader, csrfHeader, oauthScopes, projectHeader, roles, scopes } from '@quartermaster/contract';
import { createNewId } from '../../packages/server/src/platform/identifier.ts';
import { type SignedIn, signedIn } from './administrator.ts';
import type { Subject } from './authorisation-outcomes.ts';
import type { AddressName } from './authorisation-table.ts';
import { send } from './http.ts';
import { signInApplication } from './oauth.ts';
import type { StartedService } from './service.ts';

/** A way to send a request. */
export interface Caller {
  readonly name: string;
  readonly subject: Subject;
  /** The address at which the credential is valid; default: both. */
  readonly validAt?: AddressName;
  readonly headers: Readonly<Record<string, string>>;
  /** Returns the headers of another session of the same person, for a request that ends it. */
  readonly another?: () => Readonly<Record<string, string>>;
  /** A key, a token or a session of another project, which sees nothing of the first one. */
  readonly isForeign?: boolean;
}

type Role = NonNullable<Subject['role']>;
const newId = createNewId();
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');
const bearer = (text: string) => ({ authorization: `Bearer ${text}` });

/** Creates every kind of caller: keys of each scope alone, sessions of each role, tokens of each scope, and those that are refused. */
export async function createCallers(service: StartedService, admin: SignedIn) {
  const { filesUrl } = service;
  const { projectId } = admin;
  const other = await createProject(admin);
  const createKey = async (body: object, project = projectId) => {
    const answer = await admin.ask('POST', `/v1/projects/${project}/keys`, { body: { name: 'matrix', ...body } });
    return ((await answer.json()) as { data: { key: string; key_id: string } }).data;
  };
  const path = join(service.folder, 'quartermaster.db');
  const people = createPeople(path, projectId);
  const keyCallers: Caller[] = [];
  for (const scope of scopes) {
    const { key } = await createKey({ scopes: [scope] });
    keyCallers.push({ name: `a key with ${scope}`, subject: { kind: 'key', scopes: [scope] }, headers: bearer(key) });
  }
  const foreign = await createKey({ scopes: [...scopes] }, other);
  const sessions: Caller[] = [];
  for (const role of ['service administrator', ...roles, 'none'] as const) {
    const another = people.addSession(role === 'service administrator' ? people.administrator() : people.add(role));
    const headers = another();
    sessions.push({ name: `a session: ${role}`, subject: { kind: 'session', role }, headers, another });
  }
  const tokens: Caller[] = [];
  const allow = async (name: string, subject: Subject & { readonly role: Role }, request: object = {}) => {
    const scope = (subject.scopes ?? []).join(' ');
    const application = await signInApplication(service, {
      ...{ person: admin, scope, choice: { project: projectId } },
      ...request,
    });
    const headers = bearer(application.accessToken);
    tokens.push({ name, subject, validAt: 'files', headers, ...request });
    return application;
  };
  const role = 'service administrator';
  for (const scope of oauthScopes) await allow(`a token with ${scope}`, { kind: 'token', scopes: [scope], role });
  const member = people.add('member');
  const scopesOfMember = { kind: 'token', scopes: ['collections', 'plugins'], role: 'viewer' } as const;
  const { cookie = '', [consoleTokenHeader]: consoleToken = '' } = people.addSession(member)();
  await allow('a token of a member who became a viewer', scopesOfMember, {
    person: await signedIn(service, { cookie, consoleToken }),
  });
  const demoted = await admin.ask('PUT', `/v1/projects/${projectId}/members/${member}`, { body: { role: 'viewer' } });
  assert.equal(demoted.status, 200);
  const atPlugins = { resource: `${service.pluginsUrl}/mcp`, validAt: 'plugins' };
  await allow(
    'a token of the plugins address',
    { kind: 'token', scopes: ['collections:read', 'plugins'], role },
    atPlugins,
  );
  const ofOther = { choice: { project: other }, isForeign: true };
  await allow('a token of another project', { kind: 'token', scopes: [...oauthScopes], role }, ofOther);
  const expired = await allow('an expired token', { kind: 'refused', role, scopes: ['plugins'] });
  people.expire(expired.accessToken);
  const refused = await createRefused(admin, createKey);
  const [session] = sessions;
  const { [consoleTokenHeader]: _second, ...withoutSecond } = session?.headers ?? {};
  people.close();
  const callers: Caller[] = [
    { name: 'nobody', subject: { kind: 'nobody' }, headers: {} },
    ...Object.entries({ ...refused, 'the refresh token of an application': expired.refreshToken }).map(
      ([name, text]) => ({
        name,
        subject: { kind: 'refused' as const },
        headers: bearer(text),
      }),
    ),
    { name: 'a session without its second token', subject: { kind: 'refused' }, headers: withoutSecond },
    ...keyCallers,
    {
      name: 'a key of another project',
      subject: { kind: 'key', scopes },
      headers: bearer(foreign.key),
      isForeign: true,
    },
    ...sessions,
    ...tokens,
  ];
  assert.equal((await send(`${filesUrl}/v1/key`, { key: foreign.key })).status, 200);
  return { callers, other };
}

async function createProject(admin: SignedIn): Promise<string> {
  const answer = await admin.ask('POST', '/v1/projects', { body: { name: 'other' } });
  return ((await answer.json()) as { data: { project_id: string } }).data.project_id;
}

type CreateKey = (body: object) => Promise<{ readonly key: string; readonly key_id: string }>;

async function createRefused(admin: SignedIn, createKey: CreateKey) {
  const keys = `/v1/projects/${admin.projectId}/keys`;
  const [revoked, expired] = [await createKey({ scopes: [...scopes] }), await createKey({ scopes: [...scopes] })];
  await admin.ask('DELETE', `${keys}/${revoked.key_id}`);
  // The old key of a rotation without overlap has expired.
  await admin.ask('POST', `${keys}/${expired.key_id}/rotate`, { body: { overlap_seconds: 0 } });
  return {
    'a revoked key': revoked.key,
    'an expired key': expired.key,
    'an unknown key': `qmk_${'a'.repeat(36)}`,
    'a text that is no key': 'x',
    'an unknown token': `qmt_${'a'.repeat(43)}`,
  };
}

/** Adds people to the store, because only an identity provider creates accounts without a password. */
function createPeople(path: string, projectId: string) {
  const database = new DatabaseSync(path, { timeout: 5000 });
  return {
    administrator: () => String(database.prepare('select id from account where is_administrator = 1').get()?.id),
    add: (role: (typeof roles)[number] | 'none'): string => {
      const id = newId('account');
      const values = [id, role, 'https://people.example', id, Date.now(), Date.now()];
      const columns = 'id, name, issuer, subject, created_at, updated_at, is_administrator';
      database.prepare(`insert into account (${columns}) values (?, ?, ?, ?, ?, ?, 0)`).run(...values);
      if (role === 'none') return id;
      const member = database.prepare(
        "insert into member (project_id, account_id, role, source, created_at) values (?, ?, ?, 'manual', ?)",
      );
      member.run(projectId, id, role, Date.now());
      return id;
    },
    expire: (token: string) =>
      database.prepare('update oauth_record set expires_at = 1 where hash = ?').run(hashOf(token)),
    close: () => database.close(),
    addSession: (account: string) => () => {
      const [token, second] = [randomBytes(32).toString('base64url'), randomBytes(32).toString('base64url')];
      const own = new DatabaseSync(path, { timeout: 5000 });
      const columns =
        'hash, console_hash, account_id, created_at, last_used_at, expires_at, id, client_address, user_agent';
      const [now, values] = [Date.now(), [hashOf(token), hashOf(second), account]];
      const insert = own.prepare(
        `insert into session (${columns}) values (?, ?, ?, ?, ?, ?, ?, '127.0.0.1', 'matrix')`,
      );
      insert.run(...values, now, now, now + 3_600_000, newId('session'));
      own.close();
      return {
        cookie: `quartermaster_session=${token}`,
        [consoleTokenHeader]: second,
        [csrfHeader]: '1',
        [projectHeader]: projectId,
      };
    },
  };
}
