import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type NewApiKey, type Scope, scopes } from '@quartermaster/contract';
import { type StartedService, startService } from '../support/service.ts';

/** Scopes that an operation accepts beside the one that its document names: `admin` includes `metrics`. */
const alternatives: Readonly<Record<string, readonly Scope[]>> = {
  'files getMetrics': ['admin'],
  'plugins getMetrics': ['admin', 'plugins'],
};

interface Operation {
  readonly operationId: string;
  readonly security?: ReadonlyArray<Readonly<Record<string, readonly Scope[]>>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly security: NonNullable<Operation['security']>;
}

/** Returns every operation of an address with its URL, which names objects that do not exist. */
async function listOperations(address: 'files' | 'plugins', url: string) {
  const { paths, security: ofAll } = (await (await fetch(`${url}/openapi.json`)).json()) as Document;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, security = ofAll }]) => ({
      ...{
        name: `${address} ${operationId}`,
        security,
        method: method.toUpperCase(),
        url: url + path.replace(/\{[^}]+\}/g, 'x'),
      },
      scope: security.flatMap(({ apiKey = [] }) => apiKey)[0],
    })),
  );
}

/** Returns a function that creates a key with these scopes, once. */
async function openKeys({ filesUrl, key }: StartedService) {
  const created = new Map<string, string>();
  const ask = async <Data>(path: string, body?: object): Promise<Data> => {
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    return ((await (await fetch(filesUrl + path, { headers, ...sent })).json()) as { data: Data }).data;
  };
  const [project] = await ask<Array<{ project_id: string }>>('/v1/projects');
  return async (wanted: readonly Scope[]): Promise<string> => {
    const name = wanted.join();
    const found = created.get(name);
    if (found !== undefined) return found;
    const newKey = await ask<NewApiKey>(`/v1/projects/${project?.project_id}/keys`, { name, scopes: wanted });
    created.set(name, newKey.key);
    return newKey.key;
  };
}

test('[documented] each operation accepts a key with only the scope that its document names, and refuses one with all others', async (t) => {
  const service = await startService(t, { settings: { LOG_LEVEL: 'warn', PLUGINS_KEY: 'required' } });
  const keyWith = await openKeys(service);
  const operations = [
    ...(await listOperations('files', service.filesUrl)),
    ...(await listOperations('plugins', service.pluginsUrl)),
  ];
  const wrong: string[] = [];
  const seen = new Set<string>();
  for (const { name, method, url, scope, security } of operations) {
    const statusWith = async (key?: string) => {
      const headers = key === undefined ? {} : { Authorization: `Bearer ${key}` };
      const answer = await fetch(url, { method, headers });
      await answer.body?.cancel();
      return answer.status;
    };
    if (scope === undefined) {
      const status = security.length === 0 ? await statusWith() : 200;
      if ([401, 403].includes(status)) wrong.push(`${name}: ${status} without a key`);
      continue;
    }
    seen.add(scope);
    const accepted = [scope, ...(alternatives[name] ?? [])];
    const others = await statusWith(await keyWith(scopes.filter((one) => !accepted.includes(one))));
    if (others !== 403) wrong.push(`${name}: ${others} with all scopes but ${accepted.join(' and ')}`);
    for (const one of accepted) {
      const alone = await statusWith(await keyWith([one]));
      if ([401, 403].includes(alone)) wrong.push(`${name}: ${alone} with only ${one}`);
    }
  }
  assert.deepEqual(wrong, []);
  assert.deepEqual([...seen].sort(), [...scopes].sort());
  assert.ok(operations.length >= 70, `only ${operations.length} operations`);
});
