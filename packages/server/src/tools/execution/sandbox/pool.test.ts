import assert from 'node:assert/strict';
import { readdirSync, readlinkSync } from 'node:fs';
import { chmod, open } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createAdmission } from '../../../platform/admission/admission.ts';
import { systemClock } from '../../../platform/clock.ts';
import { createPool } from './pool.ts';
import type { SandboxOutcome } from './sandbox.ts';
import { createSlots, type SlotHolder } from './slots.ts';
import { childrenOf, hold, isRunning, openTestBed, until } from './testing/test-bed.suite.ts';

/** The run ends when its request is answered. */
const held = `globalThis.runs = 0;
  export const run = async (input, context) => {
    const count = ++globalThis.runs;
    if (input.hold) await context.fetch({ url: 'https://a.test/' });
    return count;
  };`;
const crashing = `export const run = (input) => { if (input.crash) process.exit(7); return 'well'; };`;

const holdInput = { input: { hold: true } };

function kinds(outcomes: readonly SandboxOutcome[]): string[] {
  return outcomes.map((outcome) => outcome.kind);
}

test('many concurrent runs share few children, one run at a time each', async () => {
  await using bed = await openTestBed({ maxChildrenPerBundle: 2, maxChildren: 4 });
  await bed.addBundle('a', { 'run.mjs': held });
  const outcomes = await Promise.all(Array.from({ length: 40 }, () => bed.run('a')));
  assert.equal(outcomes.filter((outcome) => outcome.kind === 'returned').length, 40);
  assert.ok(childrenOf(process.pid).length <= 2);
});

test('a full queue results in queue_full with the time to retry', async () => {
  await using bed = await openTestBed({ maxChildrenPerBundle: 1, maxChildren: 2, queueLength: 6 });
  await bed.addBundle('a', { 'run.mjs': held });
  const first = hold(bed, 'a', holdInput);
  await first.begun;
  const waiting = [bed.run('a'), bed.run('a'), bed.run('a')];
  const refused = await bed.run('a');
  assert.equal(refused.kind, 'queue_full');
  assert.ok(refused.kind === 'queue_full' && refused.retryAfterSeconds >= 1);
  first.release();
  assert.deepEqual(kinds(await Promise.all([first.outcome, ...waiting])), Array(4).fill('returned'));
});

test('the queue of all bundles together is bounded too', async () => {
  await using bed = await openTestBed({ maxChildrenPerBundle: 1, maxChildren: 2, queueLength: 2 });
  for (const id of ['a', 'b', 'c', 'd']) await bed.addBundle(id, { 'run.mjs': held });
  const running = [hold(bed, 'a', holdInput), hold(bed, 'b', holdInput)];
  await Promise.all(running.map((it) => it.begun));
  const waiting = [bed.run('a'), bed.run('b')];
  // Both runs take their places in the queue after they have looked up their bundle.
  await new Promise(setImmediate);
  assert.equal((await bed.run('c')).kind, 'queue_full');
  for (const it of running) it.release();
  assert.deepEqual(kinds(await Promise.all(waiting)), ['returned', 'returned']);
});

test('a waiting run can be cancelled, and waits no longer than its time limit', async () => {
  await using bed = await openTestBed({ maxChildrenPerBundle: 1, maxChildren: 2, leastWaitMs: 0 });
  await bed.addBundle('a', { 'run.mjs': held });
  const first = hold(bed, 'a', holdInput);
  await first.begun;
  const controller = new AbortController();
  const cancelled = bed.run('a', { signal: controller.signal });
  await new Promise(setImmediate);
  controller.abort();
  assert.equal((await cancelled).kind, 'cancelled');
  assert.equal((await bed.run('a', { limits: { timeoutMs: 50 } })).kind, 'queue_full');
  first.release();
  assert.equal((await first.outcome).kind, 'returned');
});

test('an idle child is ended to start one for another bundle', async () => {
  await using bed = await openTestBed({ maxChildrenPerBundle: 1, maxChildren: 2 });
  for (const id of ['a', 'b', 'c']) {
    await bed.addBundle(id, { 'run.mjs': held });
    assert.equal((await bed.run(id)).kind, 'returned');
  }
  assert.deepEqual(await bed.run('b'), { kind: 'returned', output: 2 }, 'the one that was idle for less long stays');
  assert.deepEqual(await bed.run('a'), { kind: 'returned', output: 1 });
});

test('the memory limits of all processes together never exceed the budget', async () => {
  const budget = { memoryBudgetMb: 5 * 256 - 1, mostMemoryMb: 256, maxChildrenPerBundle: 8 };
  await using bed = await openTestBed(budget);
  for (const id of ['a', 'b', 'c']) await bed.addBundle(id, { 'run.mjs': held });
  let most = 0;
  const onFetch = async () => {
    most = Math.max(most, childrenOf(process.pid).length);
    return { status: 200, headers: {}, text: '' };
  };
  const owners = Array.from({ length: 60 }, (_, at) => ({ projectId: `project ${at % 7}`, keyId: `key ${at % 20}` }));
  const outcomes = await Promise.all(
    owners.map((owner, at) => bed.run('abc'.charAt(at % 3), { ...owner, ...holdInput, onFetch })),
  );
  assert.equal(outcomes.filter(({ kind }) => kind === 'returned').length, owners.length);
  assert.equal(most, 4);
  await assert.rejects(bed.run('a', { limits: { memoryMb: 257 } }), /at most 256 MiB/);
  await assert.rejects(openTestBed({ ...budget, memoryBudgetMb: 1_023 }), /must be at least 1024/);
});

test('bundles that are always busy do not block another one forever', async () => {
  await using bed = await openTestBed({ maxChildrenPerBundle: 1, maxChildren: 2 });
  for (const id of ['a', 'b', 'c']) await bed.addBundle(id, { 'run.mjs': held });
  let stop = false;
  const keepBusy = async (id: string): Promise<void> => {
    while (!stop) assert.equal((await bed.run(id)).kind, 'returned');
  };
  const busy = ['a', 'a', 'b', 'b'].map(keepBusy);
  await Promise.all([bed.run('a'), bed.run('b')]);
  assert.equal((await bed.run('c')).kind, 'returned');
  stop = true;
  await Promise.all(busy);
});

test('a child is replaced after its number of runs, and ended when it is idle', async () => {
  await using bed = await openTestBed({ recycleAfterRuns: 2, idleMs: 100, maxChildrenPerBundle: 1 });
  await bed.addBundle('a', { 'run.mjs': held });
  const outputs: unknown[] = [];
  for (let i = 0; i < 5; i++) outputs.push(await bed.run('a'));
  assert.deepEqual(
    outputs,
    [1, 2, 1, 2, 1].map((output) => ({ kind: 'returned', output })),
  );
  await until('no idle child', () => childrenOf(process.pid).length === 0);
});

test('a child that ended while it was idle is replaced', async () => {
  await using bed = await openTestBed({ maxChildrenPerBundle: 1 });
  await bed.addBundle('a', { 'run.mjs': held });
  await bed.run('a');
  const [pid = 0] = childrenOf(process.pid);
  process.kill(pid, 'SIGSEGV');
  await until('it is gone', () => childrenOf(process.pid).length === 0);
  await until('the end is noticed', () => bed.log.some((line) => line.includes('plugin process exited early')));
  assert.deepEqual(await bed.run('a'), { kind: 'returned', output: 1 });
});

test('a child that ended while it was idle is not chosen to free a place for another bundle', async () => {
  await using bed = await openTestBed({ maxChildrenPerBundle: 1, maxChildren: 2 });
  for (const id of ['a', 'b', 'c', 'd']) await bed.addBundle(id, { 'run.mjs': held });
  await bed.run('a');
  for (const pid of childrenOf(process.pid)) process.kill(pid, 'SIGSEGV');
  await until('the end is noticed', () => bed.log.some((line) => line.includes('plugin process exited early')));
  for (const id of ['b', 'c', 'd']) assert.deepEqual(await bed.run(id), { kind: 'returned', output: 1 });
});

test('a bundle that crashes repeatedly is paused, and another one is not', async () => {
  let now = 1_000_000;
  await using bed = await openTestBed({ clock: { now: () => now }, maxChildrenPerBundle: 1 });
  await bed.addBundle('bad', { 'run.mjs': crashing });
  await bed.addBundle('good', { 'run.mjs': crashing });
  const crash = (): Promise<SandboxOutcome> => bed.run('bad', { input: { crash: true } });
  for (let i = 0; i < 5; i++) {
    assert.deepEqual(await crash(), { kind: 'crashed', message: "The plugin's process ended (exit code 7)." });
  }
  const message = 'The bundle crashed 5 times in a row. Its runs are refused until 1970-01-01T00:16:41.000Z.';
  assert.deepEqual(await bed.run('bad'), { kind: 'crashed', message });
  assert.equal((await bed.run('good')).kind, 'returned');
  now += 1_000;
  await crash();
  now += 1_999;
  assert.match(JSON.stringify(await bed.run('bad')), /6 times in a row/);
  now += 1;
  assert.deepEqual(await bed.run('bad'), { kind: 'returned', output: 'well' });
  assert.match(JSON.stringify(await crash()), /exit code 7/, 'the count has started again');
});

test('close cancels running and waiting runs and leaves no process', async () => {
  const bed = await openTestBed({ maxChildrenPerBundle: 1, maxChildren: 2 });
  await bed.addBundle('a', { 'run.mjs': held });
  const running = hold(bed, 'a', holdInput);
  await running.begun;
  const waiting = bed.run('a');
  await new Promise(setImmediate);
  const pids = childrenOf(process.pid);
  assert.equal(pids.length, 1);
  await bed[Symbol.asyncDispose]();
  assert.deepEqual(kinds(await Promise.all([running.outcome, waiting])), ['cancelled', 'cancelled']);
  assert.deepEqual(pids.filter(isRunning), []);
  assert.deepEqual(childrenOf(process.pid), []);
});

test('a child inherits no file of the server', async () => {
  await using bed = await openTestBed();
  await bed.addBundle('a', { 'run.mjs': held });
  const file = await open(join(bed.folder, 'data'), 'w');
  const run = hold(bed, 'a', holdInput);
  await run.begun;
  const [pid = 0] = childrenOf(process.pid);
  const targets = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
  assert.deepEqual(
    targets.filter((target) => target.startsWith('/') && target !== '/dev/null'),
    [],
  );
  run.release();
  await run.outcome;
  await file.close();
});

test('a bundle that some users cannot read runs as the user of the server, and the log reports this', async () => {
  await using bed = await openTestBed();
  await bed.addBundle('private', { 'run.mjs': held });
  await chmod(join(bed.folder, 'private'), 0o700);
  assert.equal((await bed.run('private')).kind, 'returned');
  const isLogged = bed.log.some((line) => line.includes('run as the user of the service') && line.includes('private'));
  assert.equal(isLogged, bed.sandbox.capabilities.separateUser);
});

test('when the system cannot start a process, waiting runs fail with the reason, and no place is lost', async () => {
  const messages: string[] = [];
  const slots = createSlots(() => [pool], {
    admission: createAdmission(),
    maxChildren: 1,
    maxChildrenOfBundle: 1,
    queueLength: 9,
    clock: systemClock,
  });
  const pool = createPool({
    owner: { bundleId: 'a', projectId: 'p' },
    ...{ slots, clock: systemClock, maxChildren: 1, queueLength: 9, recycleAfterRuns: 9, memoryMb: 64 },
    leastWaitMs: 60_000,
    // Node throws like this for ENOMEM.
    startHost: () => {
      throw new Error('spawn ENOMEM');
    },
    onCrash: (words) => messages.push(words),
  });
  const task = {
    ...{ bundleId: 'a', bundleFolder: '/', handlerPath: 'run.mjs', input: {} },
    limits: { timeoutMs: 60_000, memoryMb: 64, cpuMs: 60_000, maxOutputBytes: 1, maxRequests: 0 },
    ...{ onFetch: () => assert.fail('nothing runs'), onLog: () => {}, onProgress: () => {} },
  };
  const { signal } = new AbortController();
  const outcome = await pool.run({ task, handlerUrl: 'file:///run.mjs', signal, hiddenFolders: [] });
  assert.equal(outcome.kind, 'crashed');
  assert.deepEqual(new Set(messages), new Set(['spawn ENOMEM']));
  assert.deepEqual(pool.counts(), { children: 0, waiting: 0, since: undefined });
  assert.equal(slots.take(pool.owner, undefined), true);
});

test('a bundle whose processes other projects hold has one more for a project without a process', () => {
  const pools: SlotHolder[] = [];
  const limits = { maxChildren: 8, maxChildrenOfBundle: 6, queueLength: 9, clock: systemClock };
  const slots = createSlots(() => pools, { admission: createAdmission(), ...limits });
  const take = (projectId: string, bundleId = 'a') => slots.take({ bundleId, projectId }, undefined);
  for (const projectId of ['p', 'q', 'r']) assert.deepEqual([take(projectId), take(projectId)], [true, true]);
  assert.equal(take('p'), false);
  assert.equal(take('s'), true);
  assert.equal(take('t'), false, 'the kept process is in use');
  assert.equal(take('t', 'b'), true, 'another bundle is not at its limit');
});
