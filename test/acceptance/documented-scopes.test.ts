import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type NewApiKey, type Scope, scopes, withIncluded } from '@quartermaster/contract';
import { listOperations } from '../support/documented-operations.ts';
import { type StartedService, startService } from '../support/service.ts';

/** Scopes that an operation accepts beside the one that its document names: `admin` includes `metrics`. */
const alternatives: Readonly<Record<string, readonly Scope[]>> = {
  'files getMetrics': ['admin'],
  'plugins getMetrics': ['admin', 'plugins'],
};

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

test('[documented] each operation accepts a key with only the scope that its document names, or one that includes it, and refuses all others', async (t) => {
  const service = await startService(t, { settings: { LOG_LEVEL: 'warn', PLUGINS_KEY: 'required' } });
  const keyWith = await openKeys(service);
  const addresses = { files: service.filesUrl, plugins: service.pluginsUrl } as const;
  const operations = (
    await Promise.all((['files', 'plugins'] as const).map((one) => listOperations(one, addresses[one])))
  ).flat();
  const wrong: string[] = [];
  const seen = new Set<string>();
  let cells = 0;
  for (const { name, method, path, scope, takesKeys, isPublic } of operations) {
    const url = addresses[name.startsWith('files') ? 'files' : 'plugins'] + path.replace(/\{[^}]+\}/g, 'x');
    const statusWith = async (key?: string) => {
      const headers = key === undefined ? {} : { Authorization: `Bearer ${key}` };
      const answer = await fetch(url, { method, headers });
      await answer.body?.cancel();
      return answer.status;
    };
    // Without a scope, a signature or any key is enough.
    if (isPublic || scope !== undefined) {
      const status = await statusWith();
      if (isPublic === [401, 403].includes(status)) wrong.push(`${name}: ${status} without a key`);
    }
    if (!takesKeys) continue;
    if (scope !== undefined) seen.add(scope);
    const accepts = (one: Scope) =>
      scope === undefined || withIncluded([one]).has(scope) || alternatives[name]?.includes(one) === true;
    const rows = scopes.map((only) => ({ isAccepted: accepts(only), held: [only] as readonly Scope[] }));
    const others = scopes.filter((one) => !accepts(one));
    if (others.length > 0) rows.push({ isAccepted: false, held: others });
    const check = async ({ isAccepted, held }: (typeof rows)[number]) => {
      const status = await statusWith(await keyWith(held));
      if (isAccepted === [401, 403].includes(status)) wrong.push(`${name}: ${status} with only ${held.join()}`);
    };
    await Promise.all(rows.map(check));
    cells += rows.length;
  }
  assert.deepEqual(wrong, []);
  assert.deepEqual([...seen].sort(), [...scopes].sort());
  t.diagnostic(`${cells} cells of ${operations.length} operations`);
  assert.ok(operations.length >= 70, `only ${operations.length} operations`);
});
