import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  consoleTokenHeader,
  csrfHeader,
  type NewApiKey,
  type NewSession,
  projectHeader,
} from '@quartermaster/contract';
import { account, cookieOf, setUp, setUpToken } from '../support/administrator.ts';
import { startService } from '../support/service.ts';

/** Returns the headers of a new session. */
async function sessionOf(answer: Response) {
  const { data } = (await answer.json()) as { data: NewSession };
  return { cookie: cookieOf(answer), [consoleTokenHeader]: data.console_token };
}

type Line = Readonly<Record<string, unknown>>;

test('[log] the log names project, key and client of each request, and each sign-in, refusal and change of a key', async (t) => {
  const service = await startService(t, { settings: { PLUGINS_KEY: 'required' } });
  const { filesUrl, pluginsUrl } = service;
  const token = await setUpToken(service);
  const admin = await setUp(service);
  const lines = () =>
    service
      .log()
      .split('\n')
      .flatMap((line): Line[] => (line.startsWith('{') ? [JSON.parse(line)] : []));
  const events = (name: string) => lines().filter(({ event }) => event === name);
  const requests = (route: string) =>
    lines().filter((line) => line.msg === 'request completed' && line.route === route);
  const ask = (path: string, key: string) => fetch(path, { headers: { Authorization: `Bearer ${key}` } });
  const signIn = async (name: string, password: string, headers: Record<string, string> = {}) =>
    fetch(`${filesUrl}/v1/session`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify({ name, password }),
    });
  const keys = `/v1/projects/${admin.projectId}/keys`;

  const created = await admin.ask('POST', keys, { body: { name: 'reader', scopes: ['files', 'admin'] } });
  const { data: reader } = (await created.json()) as { data: NewApiKey };
  const rotate = await admin.ask('POST', `${keys}/${reader.key_id}/rotate`, { body: { overlap_seconds: 60 } });
  const { data: rotated } = (await rotate.json()) as { data: NewApiKey };
  const ofKey = { project: admin.projectId, key: rotated.key_id, client: '127.0.0.1' };

  assert.equal((await ask(`${filesUrl}/v1/files`, rotated.key)).status, 200);
  assert.equal((await ask(`${filesUrl}/v1/collections`, rotated.key)).status, 403);
  assert.equal((await ask(`${pluginsUrl}/v1/bundles`, rotated.key)).status, 403);
  assert.equal((await admin.ask('GET', '/v1/limits')).status, 200);
  assert.equal((await admin.ask('GET', '/plugins/v1/bundles')).status, 200);
  assert.equal((await ask(`${filesUrl}/v1/files`, 'qmk_wrong')).status, 401);
  const { cookie, consoleToken } = admin;
  const forged = { headers: { cookie, [consoleTokenHeader]: consoleToken, [projectHeader]: admin.projectId } };
  assert.equal((await fetch(`${filesUrl}/v1/files/none`, { ...forged, method: 'DELETE' })).status, 403);
  assert.equal((await admin.ask('GET', '/v1/files', { headers: { origin: 'https://evil.example' } })).status, 403);
  const revoke = { method: 'DELETE', headers: { Authorization: `Bearer ${rotated.key}` } };
  assert.equal((await fetch(`${filesUrl}${keys}/${reader.key_id}`, revoke)).status, 200);

  const wrong = { name: 'a password in the wrong field', password: 'not the password at all' };
  assert.equal((await signIn(account.name, wrong.password)).status, 401);
  assert.equal((await signIn(wrong.name, wrong.password)).status, 401);
  const again = await signIn(account.name, account.password);
  const change = { current_password: account.password, new_password: 'nine herons mend umbrellas' };
  const session = await sessionOf(again);
  const changed = await admin.ask('POST', '/v1/session/password', { body: change, headers: session });
  assert.equal(changed.status, 200);
  const last = await sessionOf(changed);
  assert.equal((await admin.ask('DELETE', '/v1/session?everywhere=true', { headers: last })).status, 200);
  let throttled = 0;
  for (let i = 0; i < 90; i++) throttled += (await signIn('nobody', wrong.password)).status === 429 ? 1 : 0;
  for (let i = 0; i < 150; i++) await ask(`${filesUrl}/v1/limits`, 'qmk_wrong');
  assert.equal(await service.stop(), 0);
  // Reads the log after the process has ended, because a log line may arrive later than the response.
  const ofAdmin = { account: events('account_created')[0]?.account, client: '127.0.0.1' };

  const within = (found: Line | undefined, wanted: Line) =>
    assert.deepEqual(
      Object.fromEntries(Object.keys(wanted).map((name) => [name, found?.[name]])),
      wanted,
      JSON.stringify(found),
    );
  within(requests('/v1/files')[0], { ...ofKey, status: 200, method: 'GET' });
  within(requests('/v1/collections')[0], { ...ofKey, status: 403 });
  within(requests('/v1/bundles')[0], { ...ofKey, status: 403, address: 'plugins' });
  within(requests('/v1/limits')[0], { ...ofAdmin, project: admin.projectId, key: undefined });
  within(requests('/v1/bundles')[1], { ...ofAdmin, project: admin.projectId, address: 'plugins' });
  within(requests('/plugins/v1/*')[0], { ...ofAdmin, project: admin.projectId, address: 'files' });
  within(requests('/v1/limits')[1], { client: '127.0.0.1', project: undefined, key: undefined, status: 401 });

  within(events('account_created')[0], { ...ofAdmin, name: account.name });
  within(events('key_created')[1], { ...ofAdmin, key_id: reader.key_id, scopes: ['files', 'admin'] });
  within(events('key_rotated')[0], { ...ofAdmin, key_id: rotated.key_id, replaced_key_id: reader.key_id });
  within(events('key_revoked')[0], { ...ofKey, key_id: reader.key_id });
  const refused = events('request_refused');
  within(refused[0], { ...ofKey, status: 403, code: 'PERMISSION_DENIED', route: '/v1/collections' });
  within(refused[1], { ...ofKey, status: 403, code: 'PERMISSION_DENIED', address: 'plugins' });
  within(refused[2], { client: '127.0.0.1', key: undefined, code: 'APIKEY_VALIDATION_FAILED' });
  assert.match(String(refused[3]?.reason), new RegExp(csrfHeader));
  assert.match(String(refused[4]?.reason), /came from an origin other than that of the console at this address/);
  const signIns = events('sign_in_refused');
  within(signIns[0], {
    client: '127.0.0.1',
    account_id: ofAdmin.account,
    name: account.name,
    reason: 'wrong_password',
  });
  within(signIns[1], { client: '127.0.0.1', name: undefined, reason: 'unknown_name' });
  assert.ok(throttled > 0 && signIns.some(({ reason }) => reason === 'throttled'));
  within(events('signed_in')[0], { ...ofAdmin, name: account.name });
  within(events('password_changed')[0], { ...ofAdmin, name: account.name });
  within(events('signed_out')[0], { ...ofAdmin, everywhere: true });
  // At most two minutes have begun since the start of the flood.
  assert.ok(refused.length <= 120 + 5, `${refused.length} lines`);
  assert.ok(signIns.length <= 40 + 3, `${signIns.length} lines`);
  assert.ok(refused.length < 150);

  const log = service.log();
  const tokens = [consoleToken, session[consoleTokenHeader], last[consoleTokenHeader]];
  const cookies = [cookie, session.cookie, last.cookie].flatMap((cookie) =>
    cookie.split('; ').map((part) => part.split('=')[1] ?? ''),
  );
  const secrets = [
    token,
    ...tokens,
    service.key,
    reader.key,
    rotated.key,
    ...cookies,
    ...Object.values(change),
    ...Object.values(wrong),
  ];
  for (const secret of secrets) assert.ok(secret.length > 8 && !log.includes(secret), 'a secret in the log');
});
