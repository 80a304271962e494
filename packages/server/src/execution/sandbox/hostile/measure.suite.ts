import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createHost, type Host } from '../host.ts';
import { createMemoryWatch } from '../memory-watch.ts';
import { probeMachine, probeSandbox } from '../probe.ts';
import type { SandboxOutcome } from '../sandbox.ts';
import { type SpawnSettings, spawnChild } from '../spawn-child.ts';
import { openTestBed, type TestBed } from '../test-bed.ts';
import { type HostileCase, sourceOf, through } from './hostile-case.suite.ts';
import { openWorld, type World } from './world.suite.ts';

/** What a case met: `contained`, `open`, or what else happened, which is neither. */
export type Verdict = string;
export type Verdicts = ReadonlyMap<HostileCase, Verdict>;

/** `whole`: as the product runs a handler. `kernel`: without Node's permission model and the seat belt. */
export interface Measurement {
  readonly isolation: 'process' | 'sandbox';
  readonly barriers: 'whole' | 'kernel';
  /** Who starts the child, where the server may choose. Default: as the product does. */
  readonly user?: number;
}

interface Runner {
  run(hostile: HostileCase, input: Record<string, unknown>): Promise<SandboxOutcome>;
  close(): Promise<void>;
}

const limits = { timeoutMs: 5_000, memoryMb: 512, maxOutputBytes: 1024 * 1024, maxRequests: 10 };
const helpers = { 'fork.mjs': 'process.exit(0)', 'common.cjs': 'module.exports = require;' };

/** Runs every case for real, one after the other, with traps around it. */
export async function measure(cases: readonly HostileCase[], measurement: Measurement): Promise<Verdicts> {
  await using bed = await openTestBed({ isolation: measurement.isolation });
  await using world = await openWorld(bed.folder);
  await writeFile(join(bed.folder, 'neighbour', 'run.mjs'), 'export const run = () => "well";');
  const runner =
    measurement.barriers === 'whole' ? await useSandbox(bed, cases) : await useHosts(bed, cases, measurement);
  const verdicts = new Map<HostileCase, Verdict>();
  try {
    for (const hostile of cases) verdicts.set(hostile, await judge(hostile, { runner, world, bed }));
  } finally {
    await runner.close();
  }
  return verdicts;
}

async function judge(
  hostile: HostileCase,
  { runner, world, bed }: { runner: Runner; world: World; bed: TestBed },
): Promise<Verdict> {
  const outcome = await runner.run(hostile, { ...world.input });
  const traces = world.takeTraces();
  const after = await bed.run('neighbour');
  if (after.kind !== 'returned' || after.output !== 'well') return `harmed others: ${JSON.stringify(after)}`;
  if (JSON.stringify(outcome).length > 5_000) return 'its words are not bounded';
  if (outcome.kind === 'queue_full' || outcome.kind === 'cancelled') return `did not run: ${outcome.kind}`;
  if (hostile.ends !== undefined)
    return hostile.ends.includes(outcome.kind) ? 'contained' : `ended ${JSON.stringify(outcome)}`;
  return traces > 0 || (outcome.kind === 'returned' && outcome.output === through) ? 'open' : 'contained';
}

/** Cases that change nothing for others share a bundle and so a process; each of the others has its own. */
async function useSandbox(bed: TestBed, cases: readonly HostileCase[]): Promise<Runner> {
  const shared = cases.filter((it) => it.isLasting === undefined);
  await bed.addBundle('hostile', {
    ...helpers,
    ...Object.fromEntries(shared.map((it) => [nameOf(it, cases), sourceOf(it)])),
  });
  return {
    run: async (hostile, input) => {
      const handlerPath = nameOf(hostile, cases);
      const change = { handlerPath, input, limits: { ...limits, ...hostile.limits } };
      if (hostile.isLasting === undefined) return bed.run('hostile', change);
      const bundleId = `lasting-${handlerPath}`;
      await bed.addBundle(bundleId, { ...helpers, [handlerPath]: sourceOf(hostile) });
      return bed.run(bundleId, change);
    },
    close: async () => {},
  };
}

async function useHosts(
  bed: TestBed,
  cases: readonly HostileCase[],
  { isolation, user }: Measurement,
): Promise<Runner> {
  const { settings } = isolation === 'sandbox' ? await probeSandbox() : await probeMachine();
  if (settings === undefined) throw new Error('this machine cannot give a sandbox');
  const bundleFolder = join(bed.folder, 'unguarded');
  await mkdir(bundleFolder, { mode: 0o755 });
  const sources = Object.fromEntries(cases.map((it) => [nameOf(it, cases), sourceOf(it)]));
  for (const [name, source] of Object.entries({ ...helpers, ...sources })) {
    await writeFile(join(bundleFolder, name), source);
  }
  let host: Host | undefined;
  const end = async (): Promise<void> => {
    host?.kill();
    await host?.ended;
    host = undefined;
  };
  return {
    run: async (hostile, input) => {
      if (hostile.isLasting !== undefined || host?.isAlive() !== true) await end();
      host ??= startUnguarded(bundleFolder, user === undefined ? settings : { ...settings, user });
      if (!(await host.ready)) throw new Error(`no child: ${await host.ended}`);
      const url = pathToFileURL(join(bundleFolder, nameOf(hostile, cases))).href;
      const outcome = await runIn(host, url, { input, hostile });
      if (hostile.isLasting !== undefined) await end();
      return outcome;
    },
    close: end,
  };
}

function startUnguarded(bundleFolder: string, settings: SpawnSettings): Host {
  const entry = join(import.meta.dirname, '..', 'child.ts');
  const child = spawnChild({ bundleFolder, memoryMb: 1024, entry, isUnrestricted: true }, settings);
  return createHost(child, createMemoryWatch());
}

async function runIn(
  host: Host,
  handlerUrl: string,
  { input, hostile }: { input: Record<string, unknown>; hostile: HostileCase },
): Promise<SandboxOutcome> {
  const task = {
    ...{ bundleId: 'unguarded', bundleFolder: '/', handlerPath: '', input, limits: { ...limits, ...hostile.limits } },
    onFetch: () => Promise.reject(new Error('none')),
    onLog: () => {},
    onProgress: () => {},
  };
  const { signal } = new AbortController();
  const { outcome } = await host.run({ task, handlerUrl, signal, hiddenFolders: [] });
  return outcome ?? { kind: 'cancelled' };
}

function nameOf(hostile: HostileCase, cases: readonly HostileCase[]): string {
  return `case-${cases.indexOf(hostile)}.mjs`;
}
