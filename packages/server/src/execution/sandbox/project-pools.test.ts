import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SandboxOutcome } from './sandbox.ts';
import { childrenOf, openTestBed, type TestBed, until } from './test-bed.suite.ts';

/** Leaves a mark wherever a handler can, and answers with those that it has found. */
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
  // What the handler above returns.
  return (outcome as { output: { process: string; found: string[] } }).output;
}

test('no state crosses projects: of 1,500 runs by turns none finds what another project has left', async () => {
  await using bed = await openTestBed({ maxChildrenPerBundle: 1, maxChildren: 4 });
  await bed.addBundle('marking', { 'run.mjs': marking });
  const owners = new Map<string, string>();
  let kept = 0;
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
      kept += found.length;
    }
  }
  assert.ok(kept > 1000, 'the same project finds its own marks: processes are used again');
});

test('more projects than processes take turns, each with processes of its own, and leave room for other bundles', async () => {
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
  // As many as it may have: another bundle's first run ends none of them.
  await until('two processes are left', () => childrenOf(process.pid).length <= 2);
  const before = childrenOf(process.pid);
  await runFor(bed, 'proj_0', 'other');
  assert.deepEqual(
    before.filter((pid) => !childrenOf(process.pid).includes(pid)),
    [],
  );
});
