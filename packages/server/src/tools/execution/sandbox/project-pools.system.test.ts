import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SandboxOutcome } from './sandbox.ts';
import { childrenOf, type HeldRun, hold, openTestBed, type TestBed, until } from './testing/test-bed.suite.ts';

/** Leaves a mark wherever a handler can, and returns the marks that it has found. */
const marking = `
const places = [globalThis, Array.prototype, Object.getPrototypeOf(async () => {}), Math];
let inModule = [];
const process = String(Math.random());
export const run = ({ project }) => {
  const found = new Set(inModule);
  for (const place of places) for (const mark of place.marks ?? []) found.add(mark);
  for (const place of places) Object.defineProperty(place, 'marks', { value: [...found, project], configurable: true });
  inModule = [...found, project];
  return { process, found: [...found] };
};`;

const projects = ['proj_a', 'proj_b', 'proj_c'];

async function runFor(bed: TestBed, projectId: string, bundleId = 'marking') {
  const outcome: SandboxOutcome = await bed.run(bundleId, { projectId, input: { project: projectId } });
  assert.equal(outcome.kind, 'returned', JSON.stringify(outcome));
  // the output of the handler above
  return (outcome as { output: { process: string; found: string[] } }).output;
}

test('no state crosses projects: in 1,500 alternating runs none finds data of another project', async () => {
  await using bed = await openTestBed({ maxChildrenPerBundle: 1, maxChildren: 4 });
  await bed.addBundle('marking', { 'run.mjs': marking });
  const owners = new Map<string, string>();
  let reused = 0;
  for (let turn = 0; turn < 500; turn += 1) {
    const all = await Promise.all(projects.map((projectId) => runFor(bed, projectId)));
    for (const [index, { process: id, found }] of all.entries()) {
      const project = projects[index] ?? '';
      assert.ok(
        found.every((mark) => mark === project),
        `${project} has found ${found}`,
      );
      assert.equal(owners.get(id) ?? project, project, 'a process of its own');
      owners.set(id, project);
      reused += found.length;
    }
  }
  assert.ok(reused > 1000, 'the same project finds its own marks: processes are used again');
});

test('when there are more projects than processes, projects take turns with processes of their own, and other bundles are not blocked', async () => {
  await using bed = await openTestBed({ maxChildrenPerBundle: 1, maxChildren: 3 });
  await bed.addBundle('marking', { 'run.mjs': marking });
  await bed.addBundle('other', { 'run.mjs': marking });
  const many = Array.from({ length: 6 }, (_, index) => `proj_${index}`);
  const owners = new Map<string, string>();
  let most = 0;
  const all = await Promise.all(
    [...many, ...many].map(async (projectId) => {
      const answer = await runFor(bed, projectId);
      most = Math.max(most, childrenOf(process.pid).length);
      return { projectId, ...answer };
    }),
  );
  for (const { projectId, process: id, found } of all) {
    assert.ok(found.every((mark) => mark === projectId));
    assert.equal(owners.get(id) ?? projectId, projectId);
    owners.set(id, projectId);
  }
  assert.ok(most <= 3, `${most} processes`);
  // The pool already has its maximum. The first run of another bundle ends neither of them.
  await until('two processes are left', () => childrenOf(process.pid).length <= 2);
  const before = childrenOf(process.pid);
  await runFor(bed, 'proj_0', 'other');
  assert.deepEqual(
    before.filter((pid) => !childrenOf(process.pid).includes(pid)),
    [],
  );
});

/** The run ends when its request is answered. */
const held =
  "export const run = async (input, context) => { await context.fetch({ url: 'https://a.test/' }); return {}; };";

const holdFor = (bed: TestBed, bundleId: string, projectId: string, keyId: string | null = null) =>
  hold(bed, bundleId, { projectId, keyId, limits: { timeoutMs: 60_000 } });

/** Starts `each` runs of every bundle, and waits until `running` of them have a process. */
async function fill(bed: TestBed, bundleIds: readonly string[], { each, running }: { each: number; running: number }) {
  const runs: HeldRun[] = [];
  for (const bundleId of bundleIds) {
    await bed.addBundle(bundleId, { 'run.mjs': held });
    for (let n = 0; n < each; n += 1) runs.push(holdFor(bed, bundleId, 'proj_a'));
  }
  const begun = new Set<HeldRun>();
  for (const run of runs) void run.begun.then(() => begun.add(run));
  await until('every process has a run', () => begun.size === running);
  return { runs, begun };
}

test('a project that holds every process does not delay the first run of another one', async () => {
  await using bed = await openTestBed({ maxChildrenPerBundle: 1, maxChildren: 3 });
  await bed.addBundle('marking', { 'run.mjs': marking });
  const { runs, begun } = await fill(bed, ['a', 'b', 'c', 'd'], { each: 3, running: 3 });
  for (let n = 0; n < 5; n += 1) await runFor(bed, 'proj_b');
  assert.equal(begun.size, 3, 'no run of the first project has ended or begun in the meantime');
  for (const { release } of runs) release();
  for (const { outcome } of runs) assert.equal((await outcome).kind, 'returned');
});

test('a full queue refuses the newest runs of the project that fills it, and accepts those of another one', async () => {
  await using bed = await openTestBed({ maxChildrenPerBundle: 1, maxChildren: 2, queueLength: 8 });
  const { runs } = await fill(bed, ['a', 'b'], { each: 4, running: 2 });
  for (const bundleId of ['c', 'd']) await bed.addBundle(bundleId, { 'run.mjs': held });
  const newest = [holdFor(bed, 'a', 'proj_a'), holdFor(bed, 'b', 'proj_a')];
  await new Promise(setImmediate);
  assert.equal((await holdFor(bed, 'c', 'proj_a').outcome).kind, 'queue_full');
  const others = [holdFor(bed, 'd', 'proj_b'), holdFor(bed, 'd', 'proj_b')];
  for (const { outcome } of newest) assert.equal((await outcome).kind, 'queue_full');
  for (const { release } of [...runs, ...others]) release();
  for (const { outcome } of [...runs, ...others]) assert.equal((await outcome).kind, 'returned');
});

test('a key that holds every process of a bundle does not delay the run of another key of its project', async () => {
  await using bed = await openTestBed({ maxChildrenPerBundle: 2, maxChildren: 4 });
  await bed.addBundle('a', { 'run.mjs': held });
  const runs = Array.from({ length: 6 }, () => holdFor(bed, 'a', 'proj_a', 'saturating'));
  const begun = new Set<HeldRun>();
  for (const run of runs) void run.begun.then(() => begun.add(run));
  await until('every process has a run', () => begun.size === 2);
  for (let n = 0; n < 3; n += 1) {
    const other = holdFor(bed, 'a', 'proj_a', 'other');
    await other.begun;
    other.release();
    assert.equal((await other.outcome).kind, 'returned');
  }
  assert.equal(begun.size, 2, 'the kept process serves only keys that run nothing');
  for (const { release } of runs) release();
  for (const { outcome } of runs) assert.equal((await outcome).kind, 'returned');
});

test('a key that holds the processes of all bundles does not delay the first run of another key of its project', async () => {
  await using bed = await openTestBed({ maxChildrenPerBundle: 1, maxChildren: 3 });
  const runs: HeldRun[] = [];
  for (const bundleId of ['a', 'b', 'c', 'd', 'e']) {
    await bed.addBundle(bundleId, { 'run.mjs': held });
    for (let n = 0; n < 2; n += 1) runs.push(holdFor(bed, bundleId, 'proj_a', 'saturating'));
  }
  const begun = new Set<HeldRun>();
  for (const run of runs) void run.begun.then(() => begun.add(run));
  await until('every process has a run', () => begun.size === 3);
  for (const bundleId of ['d', 'e', 'd']) {
    const other = holdFor(bed, bundleId, 'proj_a', 'other');
    await other.begun;
    other.release();
    assert.equal((await other.outcome).kind, 'returned');
  }
  assert.equal(begun.size, 3);
  for (const { release } of runs) release();
  for (const { outcome } of runs) assert.equal((await outcome).kind, 'returned');
});

test('keys of a project take turns, and a full queue refuses the newest run of the key that waits most', async () => {
  await using bed = await openTestBed({ maxChildrenPerBundle: 1, maxChildren: 2, queueLength: 8 });
  await bed.addBundle('a', { 'run.mjs': held });
  const [running, second] = [holdFor(bed, 'a', 'proj_a', '1'), holdFor(bed, 'a', 'proj_a', '3')];
  await Promise.all([running.begun, second.begun]);
  const order: string[] = [];
  const enter = (name: string, keyId: string) => {
    const run = holdFor(bed, 'a', 'proj_a', keyId);
    void run.begun.then(() => {
      order.push(name);
      run.release();
    });
    return run;
  };
  const many = Array.from({ length: 4 }, (_, n) => enter(`1-${n}`, '1'));
  await new Promise(setImmediate);
  const few = [enter('2-0', '2'), enter('2-1', '2')];
  assert.deepEqual(
    (await Promise.all(many.slice(2).map(({ outcome }) => outcome))).map(({ kind }) => kind),
    ['queue_full', 'queue_full'],
  );
  running.release();
  for (const { outcome } of [...many.slice(0, 2), ...few]) assert.equal((await outcome).kind, 'returned');
  assert.deepEqual(order, ['1-0', '2-0', '1-1', '2-1']);
  second.release();
  assert.equal((await second.outcome).kind, 'returned');
});
