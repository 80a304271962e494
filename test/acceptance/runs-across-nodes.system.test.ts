import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { until } from '../../packages/server/src/platform/testing/until.ts';
import { send } from '../support/http.ts';
import { databaseFor } from '../support/postgres.ts';
import { openProbe } from '../support/probe-bundle.ts';
import { logLines, type StartedService, startService } from '../support/service.ts';

/** The asynchronous runs that one process executes at a time. */
const atOnce = 64;

/** Starts processes on one PostgreSQL database, the first of which serves files too. */
async function openNodes(t: TestContext, count: number) {
  const probe = await openProbe(t);
  const settings = { ...probe.settings, DATABASE_URL: await databaseFor(t) };
  const first = await startService(t, { settings });
  const startFurther = (more: number) =>
    Promise.all(
      Array.from({ length: more }, () =>
        startService(t, { settings: { ...settings, SERVE: 'plugins' }, key: first.key }),
      ),
    );
  return { probe, nodes: [first, ...(await startFurther(count - 1))], startFurther };
}

const ask = (node: StartedService, path: string, init = {}) => send(node.pluginsUrl + path, { key: node.key, ...init });

async function accept(node: StartedService, plugin: 'read' | 'write', q: string): Promise<string> {
  const json = { bundle_id: 'probe', plugin_id: plugin, input_params: { q }, credentials: {} };
  const { status, body, text } = await ask(node, '/v1/execute', { json, headers: { Prefer: 'respond-async' } });
  assert.equal(status, 202, text);
  return body.data.run_id;
}

const get = async (node: StartedService, id: string) => (await ask(node, `/v1/runs/${id}`)).body.data;
const cancel = async (node: StartedService, id: string) =>
  (await ask(node, `/v1/runs/${id}/cancel`, { method: 'POST' })).body.data;

async function ended(node: StartedService, id: string) {
  await until(async () => (await get(node, id)).status === 'ended');
  return await get(node, id);
}

test('[runs] every node shows, follows and cancels a run that another one executes', async (t) => {
  const { probe, nodes } = await openNodes(t, 2);
  const [first = assert.fail(), second = assert.fail()] = nodes;
  for (const path of ['/read?q=followed', '/read?q=cancelled']) probe.hold(path);
  const followed = await accept(first, 'read', 'followed');
  const cancelled = await accept(first, 'read', 'cancelled');
  await probe.arrived('/read?q=followed');
  await probe.arrived('/read?q=cancelled');
  assert.equal((await get(second, followed)).status, 'running');

  const events = await fetch(`${second.pluginsUrl}/v1/runs/${followed}/events`, {
    headers: { Authorization: `Bearer ${second.key}` },
  });
  const run = await cancel(second, cancelled);
  assert.deepEqual([run.status, run.outcome], ['ended', 'cancelled'], 'the answer waits for the end');
  await probe.aborted('/read?q=cancelled');
  probe.release();
  const states = [...(await events.text()).matchAll(/^event: state\ndata: (.+)$/gm)].map(([, data = '']) => {
    const { status, outcome } = JSON.parse(data);
    return [status, outcome];
  });
  assert.deepEqual(states, [
    ['running', null],
    ['ended', 'succeeded'],
  ]);
  assert.deepEqual((await get(second, followed)).result.data, { said: '/read?q=followed' });
});

test('[runs] an idle node takes accepted runs that wait at a busy one, and executes each of them once', async (t) => {
  const { probe, nodes, startFurther } = await openNodes(t, 1);
  const [busy = assert.fail()] = nodes;
  const paths = ['/read?q=busy', '/write?q=taken', '/read?q=cancelled'];
  for (const path of paths) probe.hold(path);
  const running = await Promise.all(Array.from({ length: atOnce }, () => accept(busy, 'read', 'busy')));
  await until(() => probe.count('/read?q=busy') === atOnce);
  // On a slow machine, idle nodes would take some of these runs.
  const idle = await startFurther(2);
  const writing = await accept(busy, 'write', 'taken');
  const cancelled = await accept(busy, 'read', 'cancelled');
  await probe.arrived('/write?q=taken');
  await probe.arrived('/read?q=cancelled');
  const taken = () => idle.flatMap((node) => logLines(node, 'waiting run taken').map(({ run_id: id }) => id));
  await until(() => taken().length === 2);
  assert.deepEqual(taken().sort(), [writing, cancelled].sort());
  assert.equal((await cancel(busy, cancelled)).outcome, 'cancelled', 'the node that accepted it no longer has it');

  await busy.kill();
  probe.release();
  const [other = assert.fail()] = idle;
  assert.equal((await ended(other, writing)).outcome, 'succeeded');
  for (const id of running) assert.equal((await ended(other, id)).outcome, 'succeeded');
  assert.deepEqual(
    paths.map((path) => probe.count(path)),
    [2 * atOnce, 1, 1],
  );
});

test('[runs] after a kill, the retry of a repeatable request is answered by another node, and nothing that writes runs twice', async (t) => {
  const { probe, nodes } = await openNodes(t, 3);
  const [, killed = assert.fail(), other = assert.fail()] = nodes;
  const call = (node: StartedService, plugin: 'read' | 'write') => {
    const json = { bundle_id: 'probe', plugin_id: plugin, input_params: { q: 'once' }, credentials: {} };
    return ask(node, '/v1/execute', { json, headers: { 'Idempotency-Key': `${plugin} once` } });
  };
  const paths = ['/read?q=once', '/write?q=once'];
  for (const path of paths) probe.hold(path);
  const cut = Promise.allSettled([call(killed, 'read'), call(killed, 'write')]);
  await Promise.all(paths.map((path) => probe.arrived(path)));
  await killed.kill();
  await cut;
  // Both retries wait until the node counts as ended.
  const retries = Promise.all([call(other, 'read'), call(other, 'write')]);
  await until(() => probe.count('/read?q=once') === 2);
  probe.release();
  const [read, write] = await retries;
  assert.deepEqual([read.status, read.body.data.data], [200, { said: '/read?q=once' }], read.text);
  assert.equal(write.status, 409, write.text);
  assert.match(write.body.error.message, /^The outcome of the request with this Idempotency-Key is unknown/);
  assert.deepEqual(
    paths.map((path) => probe.count(path)),
    [2, 1],
  );
});

test('[rates] three nodes together admit no more requests of a key than its limit of a minute', async (t) => {
  const { nodes } = await openNodes(t, 3);
  const [{ filesUrl, key: admin } = assert.fail()] = nodes;
  const [project] = (await send(`${filesUrl}/v1/projects`, { key: admin })).body.data;
  const post = async (path: string, json: object) =>
    (await send(`${filesUrl}/v1/projects/${project.project_id}${path}`, { key: admin, json })).body.data;
  const { key, key_id: subject_id } = await post('/keys', { name: 'limited', scopes: ['plugins'] });
  const limit = 90;
  await post('/rate_limits', { subject_id, per_minute: limit });
  const request = (node: StartedService) => send(`${node.pluginsUrl}/v1/runs`, { key });
  const knows = async (node: StartedService) => (await request(node)).headers.get('RateLimit') !== null;
  for (const node of nodes) await until(() => knows(node));

  const minute = () => Math.floor(Date.now() / 60_000);
  let statuses: number[] = [];
  for (let begun = -1; begun !== minute(); ) {
    // Again if a minute has ended meanwhile, because each minute has its own limit.
    begun = minute();
    const requests = Array.from({ length: limit }, () => nodes).flat();
    statuses = await Promise.all(requests.map(async (node) => (await request(node)).status));
  }
  assert.deepEqual([...new Set(statuses)].sort(), [200, 429]);
  const passed = statuses.filter((status) => status === 200).length;
  assert.ok(passed <= limit, `${passed} of ${statuses.length} requests`);
  assert.ok(passed >= limit * 0.6, `${passed}: a node may hold back a tenth of what is left`);
});
