import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { findFiles } from '../support/find-files.ts';
import { type Sending, send } from '../support/http.ts';
import { databaseFor } from '../support/postgres.ts';
import { openProbe, type Probe } from '../support/probe-bundle.ts';
import { type StartedService, startService, temporaryFolder } from '../support/service.ts';

const canary = 'canary-7a3f1c95-of-the-credentials';
const encryptionKey = Buffer.alloc(32, 7).toString('base64url');

interface RunRequest {
  readonly plugin: 'read' | 'write' | 'think';
  readonly q: string;
  readonly credentials?: Record<string, unknown>;
  readonly headers?: Record<string, string>;
  readonly asynchronous?: boolean;
}

/** Sends a request and repeats it after a 503 with `Retry-After`, if it may be sent twice, as a client should. */
async function call(service: StartedService, path: string, init: Sending = {}, mayRepeat = init.method !== 'POST') {
  for (let triesLeft = 5; ; triesLeft -= 1) {
    const sent = await send(service.pluginsUrl + path, { key: service.key, ...init });
    const seconds = Number(sent.headers.get('retry-after'));
    if (sent.status !== 503 || seconds === 0 || !mayRepeat || triesLeft === 0) return sent;
    await pause(seconds * 1000);
  }
}

function execute(service: StartedService, { plugin, q, credentials = {}, headers, asynchronous = true }: RunRequest) {
  const bundle_id = Object.keys(credentials).length > 0 ? 'guarded' : 'probe';
  const init = {
    headers: { ...(asynchronous ? { Prefer: 'respond-async' } : {}), ...headers },
    json: { bundle_id, plugin_id: plugin, input_params: { q }, credentials },
  };
  return call(service, '/v1/execute', init, headers?.['Idempotency-Key'] !== undefined);
}

/** Starts an asynchronous run, and retries while the service is overloaded. Returns the id of the run. */
async function accept(service: StartedService, runRequest: RunRequest): Promise<string> {
  const once = { 'Idempotency-Key': randomUUID(), ...runRequest.headers };
  const { status, headers, body, text } = await execute(service, { ...runRequest, headers: once });
  assert.equal(status, 202, text);
  assert.equal(headers.get('location'), `/v1/runs/${body.data.run_id}`);
  assert.equal(headers.get('preference-applied'), 'respond-async');
  return body.data.run_id;
}

const get = async (service: StartedService, id: string) => (await call(service, `/v1/runs/${id}`)).body.data;
const cancel = async (service: StartedService, id: string) =>
  (await call(service, `/v1/runs/${id}/cancel`, { method: 'POST' }, true)).body.data;

/** Waits until the run has ended. */
async function ended(service: StartedService, id: string) {
  for (;;) {
    const run = await get(service, id);
    if (run.status === 'ended') return run;
    await pause(50);
  }
}

function eventsOf(text: string) {
  const blocks = text.split('\n\n').filter((block) => block.startsWith('id: '));
  return blocks.map((block) => {
    const [, id, name, data] = /^id: (.+)\nevent: (.+)\ndata: (.+)$/.exec(block) ?? [];
    return { id, name, data: JSON.parse(data ?? '') };
  });
}

const start = (t: TestContext, probe: Probe, options: { folder?: string; settings?: Record<string, string> } = {}) =>
  startService(t, { ...options, settings: { ...probe.settings, ...options.settings } });

async function killedRuns(t: TestContext, isEncrypted: boolean): Promise<void> {
  const probe = await openProbe(t);
  const settings = isEncrypted ? { SEALING_KEY: encryptionKey } : { DATABASE_URL: await databaseFor(t) };
  const first = await start(t, probe, { settings });
  const credentials = { token: canary };
  const wanted = {
    read: { plugin: 'read', q: 'plain' },
    write: { plugin: 'write', q: 'plain' },
    guarded: { plugin: 'read', q: 'guarded', credentials },
    repeating: { plugin: 'read', q: canary, credentials },
  } as const;
  const paths = ['/read?q=plain', '/write?q=plain', '/read?q=guarded', `/read?q=${canary}`];
  for (const path of paths) probe.hold(path);
  const ids = new Map<string, string>();
  for (const [name, runRequest] of Object.entries(wanted)) ids.set(name, await accept(first, runRequest));
  for (const path of paths) await probe.arrived(path);
  await first.kill();
  probe.release();
  assert.deepEqual(await findFiles(first.folder, canary), [], 'no credential is on the disk');

  const second = await start(t, probe, { folder: first.folder, settings });
  const runs: Record<string, Awaited<ReturnType<typeof get>>> = {};
  for (const [name, id] of ids) runs[name] = await ended(second, id);
  assert.equal(runs.read.outcome, 'succeeded');
  assert.deepEqual(runs.read.result.data, { said: '/read?q=plain' });
  assert.equal(probe.count('/read?q=plain'), 2);
  assert.equal(runs.write.outcome, 'interrupted');
  assert.deepEqual(runs.write.error.details, [{ reason: 'may_have_acted', has_begun: true }]);
  assert.equal(probe.count('/write?q=plain'), 1, 'a writing plugin is never run twice');
  for (const name of ['guarded', 'repeating']) {
    const { outcome, error } = runs[name];
    if (isEncrypted) assert.equal(outcome, 'succeeded', JSON.stringify(error));
    else assert.deepEqual(error.details, [{ reason: 'credentials_not_kept', has_begun: true }]);
  }
  assert.equal(probe.count('/read?q=guarded'), isEncrypted ? 2 : 1);
  assert.equal(await second.stop(), 0);
  assert.deepEqual(await findFiles(first.folder, canary), [], 'nor afterwards');
  for (const output of [first.log(), second.log()]) assert.ok(!output.includes(canary));
}

describe('asynchronous runs', { concurrency: true }, () => {
  test('[runs] an asynchronous run is acknowledged before it starts, and its result is stored', async (t) => {
    const probe = await openProbe(t);
    const service = await start(t, probe);
    probe.hold('/read?q=one');
    const id = await accept(service, { plugin: 'read', q: 'one' });
    await probe.arrived('/read?q=one');
    const running = await get(service, id);
    assert.deepEqual([running.status, running.outcome, running.asynchronous], ['running', null, true]);
    probe.release();
    const run = await ended(service, id);
    assert.equal(run.outcome, 'succeeded');
    assert.deepEqual(run.result, {
      ...{ status: 200, data: { said: '/read?q=one' }, run_id: id, duration_ms: run.duration_ms },
    });
    assert.ok(run.result_expires_timestamp > Date.now());
    const listed = (await call(service, '/v1/runs?outcome=succeeded')).body.data;
    assert.deepEqual(
      listed.map((item: { run_id: string }) => item.run_id),
      [id],
    );
    assert.equal((await fetch(`${service.pluginsUrl}/v1/runs/${id}`)).status, 404, 'without the key of its project');

    const failing = await ended(service, await accept(service, { plugin: 'read', q: 'fail' }));
    assert.deepEqual(
      [failing.outcome, failing.result, failing.error.code],
      ['upstream_rejected', null, 'PROVIDER_REJECTED'],
    );
    assert.equal((await execute(service, { plugin: 'read', q: 'x'.repeat(101) })).status, 422);
  });

  test('[runs] after kill −9 a read-only run is repeated; a writing run and one with credentials end as interrupted with the reason', (t) =>
    killedRuns(t, false));
  test('[runs] after kill −9 with an encryption key, a read-only run continues with its credentials, and a writing run never executes twice', (t) =>
    killedRuns(t, true));

  test('[runs] an orderly stop leaves repeatable runs to the next start and ends the others', async (t) => {
    const probe = await openProbe(t);
    const settings = { STOP_SECONDS: '0' };
    const first = await start(t, probe, { settings });
    for (const path of ['/read?q=a', '/write?q=a']) probe.hold(path);
    const [reading, writing] = [
      await accept(first, { plugin: 'read', q: 'a' }),
      await accept(first, { plugin: 'write', q: 'a' }),
    ];
    await probe.arrived('/read?q=a');
    await probe.arrived('/write?q=a');
    assert.equal(await first.stop(), 0);
    probe.release();
    const second = await start(t, probe, { folder: first.folder, settings });
    assert.equal((await ended(second, reading)).outcome, 'succeeded');
    assert.deepEqual((await ended(second, writing)).error.details, [{ reason: 'may_have_acted', has_begun: true }]);
    assert.deepEqual([probe.count('/read?q=a'), probe.count('/write?q=a')], [2, 1]);
  });

  test('[runs] a process without the bundle leaves an orphaned run to one that has it', async (t) => {
    const probe = await openProbe(t);
    const settings = { STOP_SECONDS: '0' };
    const first = await start(t, probe, { settings });
    for (const path of ['/read?q=left', '/read?q=taken']) probe.hold(path);
    const left = await accept(first, { plugin: 'read', q: 'left' });
    const taken = await accept(first, { plugin: 'read', q: 'taken', credentials: { token: canary } });
    for (const path of ['/read?q=left', '/read?q=taken']) await probe.arrived(path);
    assert.equal(await first.stop(), 0);
    probe.release();

    const bundles = await temporaryFolder(t);
    await cp(join(probe.settings.BUNDLES ?? '', 'guarded'), join(bundles, 'guarded'), { recursive: true });
    const without = await start(t, probe, { folder: first.folder, settings: { ...settings, BUNDLES: bundles } });
    // The process has examined both runs when the run of its bundle has ended.
    assert.equal((await ended(without, taken)).outcome, 'succeeded');
    assert.notEqual((await get(without, left)).status, 'ended');
    assert.equal(await without.stop(), 0);

    const second = await start(t, probe, { folder: first.folder, settings });
    assert.equal((await ended(second, left)).outcome, 'succeeded');
    assert.deepEqual([probe.count('/read?q=left'), probe.count('/read?q=taken')], [2, 2]);
  });

  test('[runs] a key has a limited number of concurrent runs, and one more gets 429 with Retry-After over every API', async (t) => {
    const probe = await openProbe(t);
    const service = await start(t, probe, { settings: { MAX_RUNS_OF_KEY: '1' } });
    probe.hold('/read?q=first');
    const first = execute(service, { plugin: 'read', q: 'first', asynchronous: false });
    await probe.arrived('/read?q=first');
    const second = await execute(service, { plugin: 'read', q: 'second', asynchronous: false });
    assert.deepEqual(
      [second.status, second.body.error.code, second.headers.get('retry-after')],
      [429, 'TOO_MANY_REQUESTS', '1'],
    );
    const message = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'read', arguments: { q: 'third' } },
    };
    const accept = { Accept: 'application/json, text/event-stream' };
    const tool = await call(service, '/mcp/probe', { json: message, headers: accept }, false);
    assert.match(tool.text, /The runs of this key that run or wait reach the maximum \(1\)/);
    probe.release();
    assert.equal((await first).status, 200);
  });

  test('[runs] a run can be cancelled while it waits for a third party, whichever API started it', async (t) => {
    const probe = await openProbe(t);
    const service = await start(t, probe);
    for (const path of ['/read?q=sync', '/read?q=async']) probe.hold(path);
    const waiting = execute(service, { plugin: 'read', q: 'sync', asynchronous: false });
    await probe.arrived('/read?q=sync');
    const [listed] = (await call(service, '/v1/runs?outcome=none')).body.data;
    const cancelled = await cancel(service, listed.run_id);
    assert.deepEqual([cancelled.status, cancelled.outcome], ['ended', 'cancelled']);
    const answer = await waiting;
    assert.deepEqual([answer.status, answer.body.error.code], [409, 'RUN_CANCELLED']);
    await probe.aborted('/read?q=sync');

    const id = await accept(service, { plugin: 'read', q: 'async' });
    await probe.arrived('/read?q=async');
    assert.equal((await cancel(service, id)).outcome, 'cancelled');
    await probe.aborted('/read?q=async');
    assert.deepEqual((await cancel(service, id)).outcome, 'cancelled', 'once more changes nothing');
    const missing = await call(service, '/v1/runs/xrun00000000000000000000/cancel', { method: 'POST' });
    assert.deepEqual([missing.status, missing.body.error.code], [404, 'OBJECT_NOT_FOUND']);
    const keyless = await fetch(`${service.pluginsUrl}/v1/runs/${id}/cancel`, { method: 'POST' });
    assert.equal(keyless.status, 404);
  });

  test('[runs] the event stream of a run reports each state and progress once, and ends with the run', async (t) => {
    const probe = await openProbe(t);
    const service = await start(t, probe, { settings: { ISOLATION: 'process' } });
    const headers = { Authorization: `Bearer ${service.key}` };
    const follow = (id: string, lastEventId?: string) =>
      fetch(`${service.pluginsUrl}/v1/runs/${id}/events`, {
        headers: lastEventId === undefined ? headers : { ...headers, 'Last-Event-ID': lastEventId },
      });
    probe.hold('/read?q=watched');
    const id = await accept(service, { plugin: 'read', q: 'watched' });
    await probe.arrived('/read?q=watched');
    const watching = await follow(id);
    assert.equal(watching.headers.get('content-type'), 'text/event-stream; charset=utf-8');
    probe.release();
    const events = eventsOf(await watching.text());
    const states = events.map(({ name, data }) => [name, data.status, data.outcome]);
    assert.deepEqual(states.at(-1), ['state', 'ended', 'succeeded']);
    assert.deepEqual(states.at(-2), ['state', 'running', null]);
    assert.equal((await follow(id, events.at(-1)?.id)).status, 204);
    const again = eventsOf(await (await follow(id, events.at(-2)?.id)).text());
    assert.deepEqual(again, events.slice(-1));
    assert.equal((await fetch(`${service.pluginsUrl}/v1/runs/${id}/events`)).status, 404);

    const thinking = await accept(service, { plugin: 'think', q: 'forever' });
    const { body } = await follow(thinking);
    let output = '';
    for await (const chunk of body ?? []) {
      output += Buffer.from(chunk).toString();
      if (output.includes('event: progress')) await cancel(service, thinking);
    }
    const streamEvents = eventsOf(output);
    const progress = streamEvents.find(({ name }) => name === 'progress');
    assert.deepEqual(progress?.data, { run_id: thinking, fraction: 0.5, message: 'thinking of forever' });
    assert.deepEqual(streamEvents.at(-1)?.data.outcome, 'cancelled');

    probe.hold('/read?q=open');
    const open = await accept(service, { plugin: 'read', q: 'open' });
    await probe.arrived('/read?q=open');
    const endless = await follow(open);
    const stopped = service.stop();
    await endless.text();
    probe.release();
    assert.equal(await stopped, 0, 'a stream does not hold up the stop');
  });

  test('[runs] a cancellation ends a handler with an endless computation', async (t) => {
    const probe = await openProbe(t);
    const service = await start(t, probe, { settings: { ISOLATION: 'process' } });
    const id = await accept(service, { plugin: 'think', q: 'forever' });
    for (;;) {
      const { progress } = await get(service, id);
      if (progress !== null) {
        assert.deepEqual(progress, { fraction: 0.5, message: 'thinking of forever' });
        break;
      }
    }
    assert.equal((await cancel(service, id)).outcome, 'cancelled');
    const next = await ended(service, await accept(service, { plugin: 'think', q: 'shortly' }));
    assert.deepEqual(next.result.data, { said: 'shortly' });
  });

  test('[runs] the client and the command line start, list, show, follow and cancel runs', async (t) => {
    const probe = await openProbe(t);
    const service = await start(t, probe);
    const { plugins, runs } = service.client;
    const done = await plugins.start('probe/read', { q: 'done' }, { idempotencyKey: 'k' });
    assert.equal((await plugins.start('probe/read', { q: 'done' }, { idempotencyKey: 'k' })).run_id, done.run_id);
    const { result, outcome } = await runs.wait(done.run_id);
    assert.deepEqual([outcome, result?.data], ['succeeded', { said: '/read?q=done' }]);
    const { data } = await runs.list({ bundle_id: 'probe', outcome: 'succeeded' });
    assert.deepEqual(
      data.map(({ run_id }) => run_id),
      [done.run_id],
    );

    probe.hold('/read?q=held');
    const held = await plugins.start('probe/read', { q: 'held' });
    const command = async (...args: string[]) => {
      const where = ['--url', service.pluginsUrl, '--key-file', join(service.folder, 'first-key')];
      const main = join(import.meta.dirname, '../../packages/cli/src/main.ts');
      const child = spawn(process.execPath, [main, 'run', ...args, ...where], { stdio: ['ignore', 'pipe', 'inherit'] });
      const [output, [code]] = await Promise.all([textOf(child.stdout), once(child, 'exit')]);
      return { code, said: output };
    };
    const watching = command('watch', held.run_id);
    const [shown, late, table, listed] = await Promise.all([
      command('show', done.run_id),
      command('watch', done.run_id),
      command('list', '--plugin', 'read'),
      command('list', '--outcome', 'none', '--json'),
    ]);
    assert.equal(JSON.parse(listed.said).run_id, held.run_id);
    assert.deepEqual(JSON.parse(shown.said).result.data, { said: '/read?q=done' });
    assert.match(table.said, new RegExp(`^RUN .*\n${held.run_id} +probe +read +running +- .*\n${done.run_id} `));
    assert.deepEqual(await command('cancel', held.run_id), { code: 0, said: 'cancelled\n' });
    const watched = await watching;
    assert.equal(watched.code, 1);
    assert.match(watched.said, /^(running\n)?cancelled\n\{\n {2}"code": "RUN_CANCELLED"/);
    assert.equal(late.code, 0);
    assert.match(late.said, /^succeeded\n\{\n {2}"status": 200/);
  });

  test('[runs] the same idempotency key returns the same asynchronous run, even after a crash', async (t) => {
    const probe = await openProbe(t);
    const first = await start(t, probe);
    const runRequest: RunRequest = { plugin: 'write', q: 'once', headers: { 'Idempotency-Key': 'k-1' } };
    probe.hold('/write?q=once');
    const answers = await Promise.all(Array.from({ length: 8 }, () => execute(first, runRequest)));
    const accepted = answers.filter(({ status }) => status === 202);
    const ids = new Set(accepted.map(({ body }) => body.data.run_id));
    assert.equal(ids.size, 1);
    for (const { status, body } of answers)
      if (status !== 202) assert.deepEqual([status, body.error.code], [409, 'DUPLICATE_OBJECT']);
    await probe.arrived('/write?q=once');
    const [id = ''] = ids;
    assert.equal(await accept(first, runRequest), id);
    assert.equal((await execute(first, { ...runRequest, q: 'other' })).status, 422);
    assert.equal((await execute(first, { ...runRequest, asynchronous: false })).status, 422);
    await first.kill();
    probe.release();
    const second = await start(t, probe, { folder: first.folder });
    assert.equal(await accept(second, runRequest), id);
    assert.equal(probe.count('/write?q=once'), 1);
  });
});
