import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SandboxOutcome } from './sandbox.ts';
import { openTestBed, type TestBed, until } from './testing/test-bed.suite.ts';

/** Logs its name and then does what the input asks. */
const obedient = `export const run = async ({ name, act }, context) => {
    if (name !== undefined) context.log(name);
    if (act === 'exit') process.exit(7);
    if (act === 'fetch') await context.fetch({ url: 'https://a.test/' });
    if (act === 'spin') for (;;);
    if (act === 'hang') await new Promise(() => {});
    if (act === 'float') Promise.reject(new Error('floating'));
    return name ?? null;
  };`;

type Change = Parameters<TestBed['run']>[1];

/** Opens a bundle whose handler is known to be quick, so that the pool pipelines its runs. */
async function openQuickBed(children: number) {
  const bed = await openTestBed({ maxChildrenPerBundle: children, maxChildren: children + 1 });
  await bed.addBundle('a', { 'run.mjs': obedient });
  for (let i = 0; i < 40; i++) assert.equal((await bed.run('a')).kind, 'returned');
  /** The names of the started runs in order. */
  const begun: string[] = [];
  const run = (name: string, act?: string, change: Change = {}): Promise<SandboxOutcome> =>
    bed.run('a', { input: { name, act }, onLog: (message) => void begun.push(message), ...change });
  return { bed, begun, run, [Symbol.asyncDispose]: () => bed[Symbol.asyncDispose]() };
}

const names = Array.from({ length: 12 }, (_, index) => `n${index}`);
const returned = (name: string): SandboxOutcome => ({ kind: 'returned', output: name });

test('quick runs are pipelined and execute in their order', async () => {
  await using quick = await openQuickBed(1);
  const outcomes = await Promise.all(names.map((name) => quick.run(name)));
  assert.deepEqual(outcomes, names.map(returned));
  assert.deepEqual(quick.begun, names);
});

test('a crash fails the run that crashed; the runs behind it execute once, in another process, before those in the queue', async () => {
  await using quick = await openQuickBed(1);
  const many = Array.from({ length: 24 }, (_, index) => `n${index}`);
  const outcomes = await Promise.all(many.map((name) => quick.run(name, name === 'n5' ? 'exit' : undefined)));
  const crashed = { kind: 'crashed', message: "The plugin's process ended (exit code 7)." };
  assert.deepEqual(
    outcomes,
    many.map((name) => (name === 'n5' ? crashed : returned(name))),
  );
  assert.deepEqual(quick.begun, many, 'each has begun once, in order');
});

test('runs behind one that blocks its process are executed in another process', async () => {
  await using quick = await openQuickBed(2);
  const ended: string[] = [];
  const run = async (name: string, act?: string) => {
    const { kind } = await quick.run(name, act, { limits: { timeoutMs: 3_000 } });
    ended.push(`${name} ${kind}`);
  };
  await Promise.all([run('first', 'hang'), ...names.map((name) => run(name))]);
  assert.deepEqual(ended.toSorted(), ['first timed_out', ...names.map((name) => `${name} returned`)].toSorted());
  assert.equal(ended.at(-1), 'first timed_out');
});

test('an unhandled rejection fails the run that caused it', async () => {
  await using quick = await openQuickBed(1);
  const outcomes = await Promise.all(names.map((name) => quick.run(name, name === 'n5' ? 'float' : undefined)));
  assert.deepEqual(
    outcomes.map((outcome) => outcome.kind),
    names.map((name) => (name === 'n5' ? 'crashed' : 'returned')),
  );
  assert.deepEqual(quick.begun.toSorted(), names.toSorted());
});

test('no run is pipelined behind a run that waits for an answer', async () => {
  await using quick = await openQuickBed(2);
  const answered = Promise.withResolvers<{ status: number; headers: Record<string, string>; text: string }>();
  const first = quick.run('first', 'fetch', { onFetch: () => answered.promise });
  const others = await Promise.all(names.map((name) => quick.run(name)));
  assert.deepEqual(others, names.map(returned));
  answered.resolve({ status: 200, headers: {}, text: '' });
  assert.deepEqual(await first, returned('first'));
  assert.deepEqual(quick.begun.toSorted(), ['first', ...names].toSorted());
});

test('runs behind a run that exceeds its time limit execute once, after that run was ended', async () => {
  await using quick = await openQuickBed(1);
  const first = quick.run('first', 'spin', { limits: { timeoutMs: 300 } });
  const others = await Promise.all(names.map((name) => quick.run(name)));
  assert.deepEqual(await first, { kind: 'timed_out', limitMs: 300 });
  assert.deepEqual(others, names.map(returned));
  assert.deepEqual(quick.begun, ['first', ...names], 'in their order too');
});

test('a run that is cancelled before it starts does not start', async () => {
  await using quick = await openQuickBed(1);
  const controller = new AbortController();
  const first = quick.run('first', 'spin', { limits: { timeoutMs: 300 } });
  const cancelled = quick.run('cancelled', undefined, { signal: controller.signal });
  const last = quick.run('last');
  await until('the first spins', () => quick.begun.length > 0);
  controller.abort();
  assert.equal((await first).kind, 'timed_out');
  assert.deepEqual(await cancelled, { kind: 'cancelled' });
  assert.deepEqual(await last, returned('last'));
  assert.deepEqual(quick.begun, ['first', 'last']);
});

test('close also cancels pipelined runs', async () => {
  const quick = await openQuickBed(1);
  const spinning = quick.run('first', 'spin');
  const behind = names.map((name) => quick.run(name));
  await until('the first spins', () => quick.begun.length > 0);
  await quick[Symbol.asyncDispose]();
  const outcomes = await Promise.all([spinning, ...behind]);
  assert.deepEqual(new Set(outcomes.map((outcome) => outcome.kind)), new Set(['cancelled']));
  assert.deepEqual(quick.begun, ['first']);
});
