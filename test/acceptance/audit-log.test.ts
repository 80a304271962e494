import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuditEvent } from '@quartermaster/contract';
import { until } from '../../packages/server/src/platform/testing/until.ts';
import { account, beginSession, setUp } from '../support/administrator.ts';
import { addDocument } from '../support/mcp-knowledge.ts';
import { authorizationPath, findApplication, openBrowser, signInApplication } from '../support/oauth.ts';
import { runCommand } from '../support/run-command.ts';
import { startService, temporaryFolder } from '../support/service.ts';
import { writeBundle } from '../support/write-bundle.ts';

const secrets = {
  password: 'not the password at all',
  newPassword: 'nine herons mend umbrellas',
  token: 'tok-secret-of-a-third-party',
  input: 'tell-nobody-this-input',
  content: 'The otters paint at noon.',
  title: 'A private title',
};

const plugin = (id: string, effects: string) => `id: ${id}
name: ${id}
description: Does ${id}.
effects: ${effects}
idempotent: false
input_schema: {type: object, additionalProperties: false, properties: {q: {type: string, description: What to do.}}}
output_schema: {type: object, properties: {said: {type: string, description: What was said.}}}
handler: run.mjs
`;

const guarded = `hosts: [api.example.com]
credentials_schema:
  type: object
  required: [token]
  additionalProperties: false
  properties: {token: {type: string, description: The token., x-secret: true}}
inject:
  - {in: header, name: X-Token, credential: token}`;

const handler = 'export const run = async ({ q }) => ({ said: q });';

test('[audit] each change leaves exactly one event with its actor, object and request, and without a secret', async (t) => {
  const folder = await temporaryFolder(t);
  const files = {
    'erase.yaml': plugin('erase', 'destructive'),
    'look.yaml': plugin('look', 'read'),
    'run.mjs': handler,
  };
  await writeBundle(folder, 'vault', files);
  await writeBundle(folder, 'paid', { more: guarded, 'look.yaml': plugin('look', 'read'), 'run.mjs': handler });
  const service = await startService(t, {
    settings: { BUNDLES: folder, ISOLATION: 'process', PLUGINS_KEY: 'required' },
  });
  const admin = await setUp(service);
  const found = (event: AuditEvent) => [event.action, event.actor_kind, event.object_id] as const;
  const expected: Array<readonly [request: string | null, ...ReturnType<typeof found>]> = [];

  /** Sends a request whose event must be the only one with its id. @returns the data of the answer */
  type Sending = { readonly body?: unknown; readonly by?: string; readonly prefer?: string };
  async function send(method: string, path: string, { body, by, prefer }: Sending = {}) {
    const more = prefer === undefined ? {} : { prefer };
    const json = body === undefined ? {} : { body: JSON.stringify(body) };
    const headers = { authorization: `Bearer ${by}`, 'content-type': 'application/json', ...more };
    const answer =
      by === undefined
        ? await admin.ask(method, path, { ...(body === undefined ? {} : { body }), headers: more })
        : await fetch(path, { method, headers, ...json });
    const text = await answer.text();
    assert.ok(answer.ok, `${method} ${path}: ${text}`);
    return { request: answer.headers.get('x-request-id'), data: JSON.parse(text).data ?? JSON.parse(text), text };
  }
  type Sent = Awaited<ReturnType<typeof send>>;
  const expectEvent = (
    sent: Sent,
    action: AuditEvent['action'],
    id: string | null,
    by: AuditEvent['actor_kind'] = 'account',
  ) => expected.push([sent.request, action, by, id]);

  // Sessions.
  const { data: other } = await beginSession(service);
  expectEvent(await send('DELETE', `/v1/sessions/${other.session_id}`), 'session.ended', other.session_id);
  const wrong = await fetch(`${service.filesUrl}/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: account.name, password: secrets.password }),
  });
  assert.equal(wrong.status, 401);
  // Projects and keys.
  const project = await send('POST', '/v1/projects', { body: { name: 'tea' } });
  const { project_id } = project.data;
  expectEvent(project, 'project.created', project_id);
  const keys = `/v1/projects/${admin.projectId}/keys`;
  const manager = await send('POST', keys, { body: { name: 'manager', scopes: ['admin', 'plugins', 'files'] } });
  expectEvent(manager, 'key.created', manager.data.key_id);
  const limited = await send('POST', keys, { body: { name: 'limited', scopes: ['admin'], tools: ['vault'] } });
  expectEvent(limited, 'key.created', limited.data.key_id);
  const rotated = await send('POST', `${keys}/${limited.data.key_id}/rotate`, { body: {} });
  expectEvent(rotated, 'key.rotated', rotated.data.key_id);
  const by = manager.data.key;
  const own = service.filesUrl + keys;
  expectEvent(await send('DELETE', `${own}/${limited.data.key_id}`, { by }), 'key.revoked', limited.data.key_id, 'key');
  const again = await send('DELETE', `${own}/${limited.data.key_id}`, { by });
  // Credential profiles.
  const profiles = `${service.pluginsUrl}/v1/credential_profiles`;
  const credentials = { token: secrets.token };
  const profile = { name: 'till', bundle_id: 'paid', credentials };
  expectEvent(await send('POST', profiles, { by, body: profile }), 'credential_profile.created', 'till', 'key');
  const update = await send('POST', `${profiles}/till`, { by, body: { credentials } });
  expectEvent(update, 'credential_profile.changed', 'till', 'key');
  expectEvent(await send('DELETE', `${profiles}/till`, { by }), 'credential_profile.deleted', 'till', 'key');
  // Collections, records and files.
  const library = await addDocument(service, { title: secrets.title, content: secrets.content });
  const { collectionId, recordId } = library;
  const collection = `/v1/collections/${collectionId}`;
  expectEvent(
    await send('POST', collection, { body: { description: secrets.title } }),
    'collection.changed',
    collectionId,
  );
  const [chunk] = (await send('GET', `${collection}/records/${recordId}/chunks`)).data;
  expectEvent(await send('DELETE', `${collection}/chunks/${chunk.chunk_id}`), 'chunk.deleted', chunk.chunk_id);
  expectEvent(await send('DELETE', `${collection}/records/${recordId}`), 'record.deleted', recordId);
  expectEvent(await send('DELETE', collection), 'collection.deleted', collectionId);
  const file = await service.client.files.upload(new Blob([secrets.content]), {
    purpose: 'record_file',
    name: 'a.txt',
  });
  expectEvent(await send('DELETE', `/v1/files/${file.file_id}`), 'file.deleted', file.file_id);
  // Applications.
  const application = await signInApplication(service, { person: admin });
  const applicationId = await findApplication(service, application.clientId);
  expectEvent(await send('DELETE', `/v1/applications/${applicationId}`), 'application.revoked', applicationId);
  const browser = openBrowser(service.filesUrl, admin);
  const waiting = await browser.begin(service.filesUrl + (await authorizationPath(service.filesUrl)));
  assert.equal((await browser.decide(waiting, { decision: 'deny' })).status, 200);
  // Runs.
  const direct = (id: string) => `${service.pluginsUrl}/v1/bundles/vault/plugins/${id}/execute`;
  const input = { q: secrets.input };
  expectEvent(await send('POST', direct('erase'), { by, body: input }), 'tool.destructive_run', 'vault/erase', 'key');
  const body = { bundle_id: 'vault', plugin_id: 'erase', input_params: input, credentials: {} };
  const execute = `${service.pluginsUrl}/v1/execute`;
  const accepted = await send('POST', execute, { by, body, prefer: 'respond-async' });
  expectEvent(accepted, 'tool.destructive_run', 'vault/erase', 'key');
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'vault__erase', arguments: input } };
  const mcp = await fetch(`${service.pluginsUrl}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${by}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify(call),
  });
  assert.match(await mcp.text(), /tell-nobody/);
  expected.push([mcp.headers.get('x-request-id'), 'tool.destructive_run', 'key', 'vault/erase']);
  const look = await send('POST', direct('look'), { by, body: input });
  // The deletion of a project, and a command.
  expectEvent(await send('DELETE', `/v1/projects/${project_id}`), 'project.deletion_begun', project_id);
  const command = await runCommand(
    { folder: service.folder },
    'key',
    'create',
    admin.projectId,
    '--name',
    'c',
    '--json',
  );
  const commandKey = JSON.parse(command.output);
  const publisher = `ed25519:${'A'.repeat(43)}`;
  for (const words of [
    ['trust', publisher, '--name', 'Tea'],
    ['distrust', publisher],
  ])
    assert.equal((await runCommand({ folder: service.folder }, 'bundle', ...words)).code, 0);

  const list = async (query = '', key?: string): Promise<AuditEvent[]> => {
    const path = `/v1/audit_events?limit=100${query}`;
    return (await send('GET', key === undefined ? path : service.filesUrl + path, key === undefined ? {} : { by: key }))
      .data;
  };
  await until(async () => (await list('&action=project.deleted')).length === 1);
  await until(async () => (await list('&action=tool.destructive_run')).length === 3);
  const events = await list();
  for (const [request, ...rest] of expected) {
    const ofRequest = events.filter((event) => event.request_id === request);
    assert.deepEqual(ofRequest.map(found), [rest]);
    assert.equal(ofRequest[0]?.client_address, '127.0.0.1');
  }
  assert.deepEqual(
    events.filter((event) => event.request_id === look.request),
    [],
    'a run that reads',
  );
  assert.ok(!events.some((event) => event.request_id === again.request), 'a key that is already revoked');
  assert.deepEqual(
    await list(`&project_id=${project_id}`),
    events.filter((event) => event.project_id === project_id),
  );
  const of = (action: AuditEvent['action']) => events.filter((event) => event.action === action);
  assert.deepEqual(
    of('sign_in_refused').map(({ outcome, details }) => [outcome, details]),
    [['refused', { reason: 'wrong_password', name: account.name }]],
  );
  for (const action of ['account.created', 'signed_in', 'application.denied', 'application.allowed'] as const)
    assert.equal(of(action).length, 1, action);
  assert.deepEqual(of('project.deleted').map(found), [['project.deleted', 'service', project_id]]);
  const byCommand = events.filter(({ actor_kind }) => actor_kind === 'command');
  assert.deepEqual(
    byCommand.map(({ action, object_id }) => [action, object_id]),
    [
      ['publisher.distrusted', publisher],
      ['publisher.trusted', publisher],
      ['key.created', commandKey.key_id],
    ],
  );

  // A key reads its own project only, and a limited key nothing.
  const seen = await list('', by);
  assert.ok(seen.length > 0 && seen.every((event) => event.project_id === admin.projectId));
  const isOwn = (event: AuditEvent) => event.project_id === admin.projectId;
  assert.deepEqual(seen, events.filter(isOwn));
  const refused = await fetch(`${service.filesUrl}/v1/audit_events`, {
    headers: { authorization: `Bearer ${rotated.data.key}` },
  });
  assert.equal(refused.status, 403);

  const exported = await admin.ask('GET', '/v1/audit_events/export');
  const text = await exported.text();
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line): AuditEvent => JSON.parse(line));
  assert.deepEqual(lines.toReversed(), events);
  assert.equal((await list('&action=audit.exported')).length, 1);
  const printed = await runCommand(
    { folder: service.folder },
    'audit',
    '--json',
    '--since',
    new Date(events[0]?.created_timestamp ?? 0).toISOString(),
  );
  assert.ok(
    printed.output.includes(events[0]?.audit_event_id ?? '-') &&
      !printed.output.includes(events[5]?.audit_event_id ?? ''),
  );

  const change = { current_password: account.password, new_password: secrets.newPassword };
  const changed = await admin.ask('POST', '/v1/session/password', { body: change });
  assert.equal(changed.status, 200);
  const later = await list('&action=password.changed', service.key).catch(() => []);
  assert.deepEqual(later, [], 'a key sees no event of the installation');
  const all = (await runCommand({ folder: service.folder }, 'audit', '--json')).output;
  assert.match(all, /"action":"password.changed"/);
  const texts = [
    by,
    rotated.data.key,
    commandKey.key,
    service.key,
    application.code,
    application.accessToken,
    account.password,
  ];
  for (const secret of [...texts, ...Object.values(secrets), 'a.txt', admin.cookie, admin.consoleToken])
    assert.ok(!all.includes(secret) && secret.length > 4, `the audit log has ${secret}`);
});
