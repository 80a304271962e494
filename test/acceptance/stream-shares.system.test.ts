import assert from 'node:assert/strict';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { serve } from '../support/http.ts';
import { runCommand } from '../support/run-command.ts';
import { type StartedService, startService, temporaryFolder } from '../support/service.ts';

/** Starts a third party that accepts connections and never answers, so that runs do not end. */
async function startSilentParty(t: TestContext): Promise<string> {
  return await serve(t, () => {});
}

/** Adds a bundle whose runs may take ten minutes. */
async function addPatientBundle(t: TestContext): Promise<string> {
  const folder = await temporaryFolder(t);
  await cp('bundles/exchangerate_api', join(folder, 'patient_api'), { recursive: true });
  const manifest = join(folder, 'patient_api', 'bundle.yaml');
  const text = await readFile(manifest, 'utf8');
  await writeFile(
    manifest,
    text.replace('id: exchangerate_api', 'id: patient_api').replace('timeout_ms: 15000', 'timeout_ms: 600000'),
  );
  return folder;
}

async function startRun(service: StartedService, key: string | undefined): Promise<string> {
  const response = await fetch(`${service.pluginsUrl}/v1/execute`, {
    method: 'POST',
    headers: { ...bearer(key), 'Content-Type': 'application/json', Prefer: 'respond-async' },
    body: JSON.stringify({
      ...{ bundle_id: 'patient_api', plugin_id: 'get_exchange_rate' },
      input_params: { from_currency: 'USD', to_currency: 'CNY' },
      credentials: { EXCHANGERATE_API_API_KEY: 'credential' },
    }),
  });
  assert.equal(response.status, 202);
  return JSON.parse(await response.text()).data.run_id;
}

const bearer = (key: string | undefined) => (key === undefined ? {} : { Authorization: `Bearer ${key}` });

test('[streams] a key has at most 20 streams over both addresses, and other keys of its project can still open streams', async (t) => {
  const bundles = await addPatientBundle(t);
  const overrides = JSON.stringify({ 'https://v6.exchangerate-api.com': await startSilentParty(t) });
  const service = await startService(t, {
    settings: { EGRESS_OVERRIDES: overrides, BUNDLES: bundles, PLUGIN_SECONDS: '600' },
  });
  const closing = new AbortController();
  t.after(() => closing.abort());
  // The list keeps the responses referenced, because the garbage collector closes others.
  const responses: Response[] = [];
  const open = async (url: string, key?: string) => {
    const response = await fetch(url, { headers: bearer(key), signal: closing.signal });
    if (response.status !== 200) assert.equal(response.headers.get('retry-after'), '5', await response.text());
    responses.push(response);
    return response.status;
  };
  const openMany = (count: number, url: string, key?: string) =>
    Promise.all(Array.from({ length: count }, () => open(url, key)));
  const projects = await runCommand(service, 'project', 'create', 'another');
  const created = await runCommand(service, 'key', 'create', projects.output, '--name', 'of another');
  assert.equal(created.code, 0, created.errors);
  const other = created.output;

  const { collection_id } = await service.client.collections.create({ name: 'tea' });
  const record = await service.client.records.create(collection_id, { type: 'text', content: 'Green tea.' });
  const ofRecord = `${service.filesUrl}/v1/collections/${collection_id}/records/${record.record_id}/events`;
  const ofRun = async (key?: string) => `${service.pluginsUrl}/v1/runs/${await startRun(service, key)}/events`;
  const mine = await ofRun(service.key);
  assert.deepEqual(await openMany(20, mine, service.key), Array(20).fill(200));
  assert.equal(await open(mine, service.key), 429);
  assert.equal(await open(ofRecord, service.key), 429, 'both addresses count together');
  assert.equal(await open(await ofRun(other), other), 200, 'another project');
  const keyless = await ofRun();
  assert.deepEqual(await openMany(100, keyless), Array(100).fill(200));
  assert.equal(await open(keyless), 429);
  const metrics = await (await fetch(`${service.pluginsUrl}/metrics`)).text();
  assert.match(metrics, /^quartermaster_queue_running\{queue="event_streams"\} 121$/m);
  assert.match(metrics, /^quartermaster_limit_exceeded_total\{limit="event_streams_of_key"\} 2$/m);
});
