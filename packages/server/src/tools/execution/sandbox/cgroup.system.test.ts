import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { createLogger } from '../../../platform/log/logger.ts';
import { createMetrics } from '../../../platform/metrics.ts';
import { type CgroupState, type Cgroups, mostTasks } from '../../../platform/processes/isolation/cgroup/cgroups.ts';
import { findPlaces } from '../../../platform/processes/isolation/cgroup/find-places.ts';
import { openCgroups } from '../../../platform/processes/isolation/cgroup/open-cgroups.ts';
import { probeMachine, probeSandbox } from '../../../platform/processes/isolation/probe.ts';
import { nobody } from '../../../platform/processes/isolation/spawn-isolated.ts';
import { createHost } from './host.ts';
import { type ChildPlan, spawnChild } from './spawn-child.ts';
import { createReadableCopy } from './testing/readable-copy.suite.ts';
import { childrenOf, isRunning, openTestBed, type TestBed, until } from './testing/test-bed.suite.ts';

const logger = createLogger('silent');
const read = (path: string): string => readFileSync(path, 'utf8');
const user = process.getuid?.() === 0 ? nobody : undefined;
const fill = 'const all = []; for (;;) all.push(Buffer.alloc(8 * 2 ** 20, 1));';

/** Returns the folders of the process's groups that the service created, that of the memory controller first. */
function groupsOf(pid: number): string[] {
  const { unified, byController: by } = findPlaces(read(`/proc/${pid}/cgroup`), read('/proc/self/mountinfo'));
  return [by.memory, by.pids, by.cpu, unified].flatMap((it) =>
    it?.folder.includes('/quartermaster-') ? it.folder : [],
  );
}

/**
 * Asserts that the other limits hold on a machine without writable control groups, and that the sandbox reports this.
 */
async function assertOthersHold(state: CgroupState): Promise<void> {
  assert.ok(!state.available);
  await using bed = await openTestBed({ cgroups: 'auto' });
  assert.deepEqual(bed.sandbox.capabilities.cgroup, state);
  await bed.addBundle('fills', { 'run.mjs': `export const run = () => { ${fill} };` });
  assert.deepEqual(await bed.run('fills'), { kind: 'out_of_memory', limitMb: 256 });
}

/** Runs `holds` if the machine has control groups, and otherwise tests the other limits. */
function withGroups(holds: (cgroups: Cgroups, bed: TestBed) => Promise<void>): () => Promise<void> {
  return async () => {
    const { cgroups, state } = await openCgroups({ user, logger });
    if (cgroups === undefined) return assertOthersHold(state);
    try {
      await using bed = await openTestBed();
      await holds(cgroups, bed);
    } finally {
      await cgroups.close();
    }
  };
}

/** Runs a program of the test in a child with a group and all other limits, but without the memory watch. */
async function startIn(cgroups: Cgroups, bed: TestBed, source: string) {
  const { settings } = await probeMachine();
  await bed.addBundle('entry', { 'entry.mjs': source });
  const bundleFolder = join(bed.folder, 'entry');
  const plan: ChildPlan = { bundleFolder, memoryMb: 256, entry: join(bundleFolder, 'entry.mjs'), isUnrestricted: true };
  const child = spawnChild(plan, { ...settings, cgroups });
  child.process.stdout?.resume();
  child.process.stderr?.resume();
  const channel = child.process.stdio[3];
  assert.ok(channel !== null && channel !== undefined && 'read' in channel);
  return { child, channel, ended: once(child.process, 'close') };
}

for (const isolation of ['process', 'sandbox'] as const) {
  test(`${isolation}: a handler is in a group with the limits, which is removed afterwards`, async () => {
    const bed = await openTestBed({ cgroups: 'auto', isolation });
    const { cgroup } = bed.sandbox.capabilities;
    let groups: string[] = [];
    try {
      await bed.addBundle('a', { 'run.mjs': 'export const run = () => "well";' });
      assert.deepEqual(await bed.run('a'), { kind: 'returned', output: 'well' });
      const pids = childrenOf(process.pid).flatMap((pid) => [pid, ...childrenOf(pid)]);
      for (const pid of pids) assert.equal(groupsOf(pid).length > 0, cgroup.available);
      groups = groupsOf(pids[0] ?? 0);
      if (cgroup.available) assertLimits(groups, cgroup);
    } finally {
      await bed[Symbol.asyncDispose]();
    }
    for (const folder of groups) assert.ok(!existsSync(folder) && !existsSync(join(folder, '..')), folder);
  });
}

/** Asserts 110 % of 256 MiB minus the 50 MiB of the runtime that all processes share. */
function assertLimits(groups: readonly string[], { version, controllers }: CgroupState & { available: true }): void {
  const found = (file: string): string | undefined => {
    const folder = groups.find((it) => existsSync(join(it, file)));
    return folder === undefined ? undefined : read(join(folder, file)).trim();
  };
  assert.equal(found(version === 1 ? 'memory.limit_in_bytes' : 'memory.max'), String(231 * 1024 ** 2));
  assert.equal(found('pids.max'), '32');
  if (version === 2) assert.equal(found('memory.oom.group'), '1');
  const cpu = version === 1 ? `${found('cpu.cfs_quota_us')} ${found('cpu.cfs_period_us')}` : found('cpu.max');
  if (controllers.includes('cpu')) assert.equal(cpu, '100000 100000');
}

test(
  'the kernel ends what the watch on memory does not see, and says why',
  withGroups(async (cgroups, bed) => {
    const { child, ended } = await startIn(cgroups, bed, fill);
    await ended;
    assert.ok(child.hasRunOutOfMemory());
  }),
);

for (const tier of ['process', 'sandbox']) {
  test(
    `${tier}: a run that the kernel ends is out of memory`,
    withGroups(async (cgroups, bed) => {
      const { settings } = tier === 'process' ? await probeMachine() : await probeSandbox();
      assert.ok(settings !== undefined);
      await bed.addBundle('fills', { 'run.mjs': `export const run = () => { ${fill} };` });
      const bundleFolder = join(bed.folder, 'fills');
      const blind = { watch: () => ({ wake: () => {}, end: () => {} }) };
      const host = createHost(spawnChild({ bundleFolder, memoryMb: 256 }, { ...settings, cgroups }), blind);
      assert.ok(await host.ready);
      const limits = { timeoutMs: 60_000, memoryMb: 256, cpuMs: 60_000, maxOutputBytes: 1000, maxRequests: 0 };
      const nothing = { onFetch: () => Promise.reject(new Error('none')), onLog: () => {}, onProgress: () => {} };
      const task = { bundleId: 'fills', bundleFolder, handlerPath: 'run.mjs', input: {}, limits, ...nothing };
      const handlerUrl = new URL(`file://${bundleFolder}/run.mjs`).href;
      const { signal } = new AbortController();
      const { outcome } = await host.run({ task, handlerUrl, signal, hiddenFolders: [] });
      assert.deepEqual(outcome, { kind: 'out_of_memory', limitMb: 256 });
      await host.ended;
    }),
  );
}

test(
  'processes are limited in number, and those left behind end with the first',
  withGroups(async (cgroups, bed) => {
    const { channel, ended } = await startIn(
      cgroups,
      bed,
      `import { spawn } from 'node:child_process'; import { Socket } from 'node:net';
    const pids = [];
    for (let i = 0; i < 40; i++) {
      const child = spawn('/bin/sleep', ['600'], { stdio: 'ignore', detached: true }).on('error', () => {});
      if (child.pid !== undefined) pids.push(child.pid);
    }
    new Socket({ fd: 3 }).end(JSON.stringify(pids), () => process.exit());`,
    );
    const pids: number[] = JSON.parse(await text(channel));
    await ended;
    assert.ok(pids.length > 0 && pids.length < mostTasks, `${pids.length} were started`);
    await until('they are gone', () => !pids.some(isRunning));
  }),
);

const urlHere = (path: string): string => JSON.stringify(new URL(`../../../${path}`, import.meta.url).href);
const server = (folder: string, url = urlHere): string => `
  import { createAdmission } from ${url('platform/admission/admission.ts')};
  import { createLogger } from ${url('platform/log/logger.ts')};
  import { createMetrics } from ${url('platform/metrics.ts')};
  import { openSandbox } from ${url('tools/execution/sandbox/open-sandbox.ts')};
  const sandbox = await openSandbox({ admission: createAdmission(), maxChildrenPerBundle: 2, memoryBudgetMb: 1_280, queueLength: 9, idleMs: 60000,
    recycleAfterRuns: 9, logger: createLogger('silent'), metrics: createMetrics(), cgroups: 'auto' });
  const limits = { timeoutMs: 60000, memoryMb: 256, cpuMs: 60000, maxOutputBytes: 1000, maxRequests: 0 };
  const outcome = await sandbox.run({ bundleId: 'a', bundleFolder: ${JSON.stringify(folder)}, handlerPath: 'run.mjs',
    input: {}, limits, onFetch: () => {}, onLog: () => {}, onProgress: () => {} }, new AbortController().signal);
  console.log(JSON.stringify({ outcome, cgroup: sandbox.capabilities.cgroup }));
  if (!process.argv.includes('stay')) await sandbox.close();`;

test('the next start removes the groups of a killed server', async () => {
  await using bed = await openTestBed();
  await bed.addBundle('a', { 'run.mjs': 'export const run = () => "well";' });
  const args = ['--input-type=module', '--eval', server(join(bed.folder, 'a')), 'stay'];
  const child = spawn(process.execPath, args, { env: {}, stdio: ['ignore', 'pipe', 'inherit'] });
  const [output] = await once(child.stdout, 'data');
  const { cgroup } = JSON.parse(String(output));
  const pids = childrenOf(child.pid ?? 0);
  const groups = pids.flatMap(groupsOf);
  assert.equal(groups.length > 0, cgroup.available);
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
  await until('its children are gone', () => !pids.some(isRunning));
  await until('their groups are empty', () => groups.every((folder) => read(join(folder, 'cgroup.procs')) === ''));
  await (await openCgroups({ user, logger })).cgroups?.close();
  for (const folder of groups) assert.ok(!existsSync(join(folder, '..')), folder);
});

test('for an ordinary user without control groups the other limits hold', async (t) => {
  const { node, url } = await createReadableCopy(t);
  await using bed = await openTestBed();
  await bed.addBundle('a', { 'run.mjs': 'export const run = () => "well";' });
  const ordinary = process.getuid?.() === 0 ? { uid: 1000, gid: 1000 } : {};
  const args = ['--input-type=module', '--eval', server(join(bed.folder, 'a'), url)];
  const child = spawn(node, args, { env: {}, cwd: '/', stdio: ['ignore', 'pipe', 'inherit'], ...ordinary });
  const { outcome, cgroup } = JSON.parse(await text(child.stdout));
  assert.deepEqual(outcome, { kind: 'returned', output: 'well' });
  if (process.getuid?.() !== 0) return;
  assert.ok(!cgroup.available);
  assert.match(
    cgroup.missing,
    /^(the control group of the server is not writable|no control groups offer memory and pids)$/,
  );
});

test('a run that exceeds its memory limit is counted as out of memory', async () => {
  const metrics = createMetrics();
  await using bed = await openTestBed({ cgroups: 'auto', metrics });
  await bed.addBundle('fills', { 'run.mjs': `export const run = () => { ${fill} };` });
  assert.equal((await bed.run('fills')).kind, 'out_of_memory');
  assert.match(await metrics.metrics(), /quartermaster_sandbox_runs_total\{outcome="out_of_memory"\} 1/);
});
