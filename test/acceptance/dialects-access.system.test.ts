import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  consoleTokenHeader,
  csrfHeader,
  type DifyError,
  type LoaderError,
  type NewApiKey,
  type Project,
  projectHeader,
} from '@quartermaster/contract';
import { type SignedIn, setUp } from '../support/administrator.ts';
import { type StartedService, startService } from '../support/service.ts';

/** The answer of a dialect: its status, its own code (Dify only) and the code of the service. */
type Outcome = readonly [status: number, code: number | undefined, serviceCode: string | undefined];

async function askDify({ filesUrl }: StartedService, collectionId: string, headers: Record<string, string>) {
  const answer = await fetch(`${filesUrl}/dify/retrieval`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ knowledge_id: collectionId, query: 'otters' }),
  });
  const { error_code, code, error_msg } = (await answer.json()) as Partial<DifyError>;
  return { outcome: [answer.status, error_code, code] satisfies Outcome, message: error_msg };
}

async function askLoader({ filesUrl }: StartedService, headers: Record<string, string>): Promise<Outcome> {
  const sent = { method: 'PUT', headers: { 'X-Filename': 'a.txt', ...headers }, body: 'otters' };
  const answer = await fetch(`${filesUrl}/openwebui/process`, sent);
  const { code } = (await answer.json()) as Partial<LoaderError>;
  return [answer.status, undefined, code];
}

async function createKey(admin: SignedIn, projectId: string, scopes: readonly string[]): Promise<NewApiKey> {
  const path = `/v1/projects/${projectId}/keys`;
  const answer = await admin.ask('POST', path, { body: { name: scopes.join('-'), scopes } });
  return ((await answer.json()) as { data: NewApiKey }).data;
}

const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });
const accepted: Outcome = [200, undefined, undefined];

test('[dialects] each dialect serves keys with its scope in their own project, and refuses every other caller', async (t) => {
  const service = await startService(t);
  const admin = await setUp(service);
  const { collection_id: id } = await service.client.collections.create({ name: 'library' });
  const refused: Outcome = [403, 1002, 'APIKEY_VALIDATION_FAILED'];
  const denied: Outcome = [403, 1002, 'PERMISSION_DENIED'];
  const revoked = await createKey(admin, admin.projectId, ['files', 'collections']);
  const end = await admin.ask('DELETE', `/v1/projects/${admin.projectId}/keys/${revoked.key_id}`);
  assert.equal(end.status, 200);
  const session = { cookie: admin.cookie, [consoleTokenHeader]: admin.consoleToken, [projectHeader]: admin.projectId };
  const unscoped = { ...bearer('qmk_wrong'), 'X-Filename': 'a.txt' };

  const rows: Array<readonly [caller: string, headers: Record<string, string>, dify: Outcome, loader: Outcome]> = [
    ['no key', {}, refused, [401, undefined, 'APIKEY_VALIDATION_FAILED']],
    ['a wrong key', unscoped, refused, [401, undefined, 'APIKEY_VALIDATION_FAILED']],
    ['a revoked key', bearer(revoked.key), refused, [401, undefined, 'APIKEY_VALIDATION_FAILED']],
    ['the console without its guard header', session, denied, [403, undefined, 'PERMISSION_DENIED']],
    ['the console', { ...session, [csrfHeader]: '1' }, accepted, accepted],
  ];
  for (const scope of ['files', 'collections', 'plugins', 'metrics']) {
    const { key } = await createKey(admin, admin.projectId, [scope]);
    const dify = scope === 'collections' ? accepted : denied;
    const loader: Outcome = scope === 'files' ? accepted : [403, undefined, 'PERMISSION_DENIED'];
    rows.push([`a key with the scope ${scope}`, bearer(key), dify, loader]);
  }
  for (const [caller, headers, dify, loader] of rows) {
    assert.deepEqual((await askDify(service, id, headers)).outcome, dify, `Dify with ${caller}`);
    assert.deepEqual(await askLoader(service, headers), loader, `Open WebUI with ${caller}`);
  }

  const other = await admin.ask('POST', '/v1/projects', { body: { name: 'neighbour' } });
  const { project_id: neighbour } = ((await other.json()) as { data: Project }).data;
  const foreign = bearer((await createKey(admin, neighbour, ['collections'])).key);
  const absent = `${id.slice(0, -1)}_`;
  const [known, unknown] = [await askDify(service, id, foreign), await askDify(service, absent, foreign)];
  assert.deepEqual(known.outcome, [404, 2001, 'OBJECT_NOT_FOUND']);
  assert.deepEqual(
    [known.outcome, known.message?.replace(id, '')],
    [unknown.outcome, unknown.message?.replace(absent, '')],
  );
});
