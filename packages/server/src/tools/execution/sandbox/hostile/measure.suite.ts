import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { probeMachine, probeSandbox } from '../../../../platform/processes/isolation/probe.ts';
import type { SpawnSettings } from '../../../../platform/processes/isolation/spawn-isolated.ts';
import { createUsageWatch } from '../../../../platform/processes/usage-watch.ts';
import { createHost, type Host } from '../host.ts';
import type { SandboxLimits, SandboxOutcome } from '../sandbox.ts';
import { spawnChild } from '../spawn-child.ts';
import { openTestBed, type TestBed } from '../testing/test-bed.suite.ts';
import { type HostileCase, sourceOf, through } from './hostile-case.suite.ts';
import { openWorld, type World } from './world.suite.ts';

/**
 * The result of a case: `contained`, `open`, `slow`, or a description of another outcome. `slow`: every attempt reached
 * its time limit, and nothing was reached.
 */
export type Verdict = string;
export type Verdicts = ReadonlyMap<HostileCase, Verdict>;

/** `whole`: with all barriers of the product. `kernel`: without Node's permission model and the runtime restrictions. */
export interface Measurement {
  readonly isolation: 'process' | 'sandbox';
  readonly barriers: 'whole' | 'kernel';
  /** The user of the child; default: that of the product. */
  readonly user?: number;
}

interface Runner {
  /** @param timeLimitFactor the factor on the usual time limit of the run */
  run(hostile: HostileCase, input: Record<string, unknown>, timeLimitFactor: number): Promise<SandboxOutcome>;
  close(): Promise<void>;
}

/** Factors of the time limit. A busy machine gets more time, so that the limit ends no attempt that would finish. */
const timeLimitFactors = [1, 4, 12] as const;
const limits = { timeoutMs: 5_000, memoryMb: 512, cpuMs: 600_000, maxOutputBytes: 1024 * 1024, maxRequests: 10 };
const helpers = { 'fork.mjs': 'process.exit(0)', 'common.cjs': 'module.exports = require;' };

/** Runs every case in a real child, one after another, with traps around it. */
export async function measure(cases: readonly HostileCase[], measurement: Measurement): Promise<Verdicts> {
  await using bed = await openTestBed({ isolation: measurement.isolation, leastWaitMs: 60_000 });
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

interface MeasureContext {
  readonly runner: Runner;
  readonly world: World;
  readonly bed: TestBed;
}

async function judge(hostile: HostileCase, context: MeasureContext): Promise<Verdict> {
  let verdict = 'never tried';
  for (const factor of timeLimitFactors) {
    verdict = await judgeOnce(hostile, context, factor);
    if (verdict !== 'slow') break;
  }
  return verdict;
}

async function judgeOnce(
  hostile: HostileCase,
  { runner, world, bed }: MeasureContext,
  factor: number,
): Promise<Verdict> {
  const outcome = await runner.run(hostile, { ...world.input }, factor);
  const traces = world.takeTraces();
  const after = await bed.run('neighbour', { limits: { timeoutMs: 60_000 } });
  if (after.kind !== 'returned' || after.output !== 'well') return `harmed others: ${JSON.stringify(after)}`;
  return verdictOn(hostile, outcome, traces);
}

/**
 * Returns the verdict on an outcome.
 * @param traces the number of traps that were reached
 */
export function verdictOn(hostile: HostileCase, outcome: SandboxOutcome, traces: number): Verdict {
  if (JSON.stringify(outcome).length > 5_000) return 'its words are not bounded';
  if (hostile.ends?.includes(outcome.kind)) return 'contained';
  if (traces > 0 || (outcome.kind === 'returned' && outcome.output === through)) return 'open';
  // No child was available in time, or the run reached its time limit.
  if (outcome.kind === 'queue_full' || outcome.kind === 'timed_out') return 'slow';
  if (outcome.kind === 'cancelled') return 'did not run';
  return hostile.ends === undefined ? 'contained' : `ended ${JSON.stringify(outcome)}`;
}

/** Cases without a lasting effect share a bundle and so a process. Each of the others has its own. */
async function useSandbox(bed: TestBed, cases: readonly HostileCase[]): Promise<Runner> {
  const shared = cases.filter((it) => it.isLasting === undefined);
  await bed.addBundle('hostile', {
    ...helpers,
    ...Object.fromEntries(shared.map((it) => [nameOf(it, cases), sourceOf(it)])),
  });
  return {
    run: async (hostile, input, factor) => {
      const handlerPath = nameOf(hostile, cases);
      const change = { handlerPath, input, limits: limitsOf(hostile, factor) };
      if (hostile.isLasting === undefined) return bed.run('hostile', change);
      const bundleId = `lasting-${factor}-${handlerPath}`;
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
    run: async (hostile, input, factor) => {
      if (hostile.isLasting !== undefined || host?.isAlive() !== true) await end();
      host ??= startUnguarded(bundleFolder, user === undefined ? settings : { ...settings, user });
      if (!(await host.ready)) throw new Error(`no child: ${await host.ended}`);
      const url = pathToFileURL(join(bundleFolder, nameOf(hostile, cases))).href;
      const outcome = await runIn(host, url, { input, limits: limitsOf(hostile, factor) });
      if (hostile.isLasting !== undefined) await end();
      return outcome;
    },
    close: end,
  };
}

function startUnguarded(bundleFolder: string, settings: SpawnSettings): Host {
  const entry = join(import.meta.dirname, '..', 'child.ts');
  const child = spawnChild({ bundleFolder, memoryMb: 1024, entry, isUnrestricted: true }, settings);
  return createHost(child, createUsageWatch());
}

async function runIn(
  host: Host,
  handlerUrl: string,
  { input, limits }: { input: Record<string, unknown>; limits: SandboxLimits },
): Promise<SandboxOutcome> {
  const task = {
    ...{ bundleId: 'unguarded', bundleFolder: '/', handlerPath: '', input, limits },
    onFetch: () => Promise.reject(new Error('none')),
    onLog: () => {},
    onProgress: () => {},
  };
  const { signal } = new AbortController();
  const { outcome } = await host.run({ task, handlerUrl, signal, hiddenFolders: [] });
  return outcome ?? { kind: 'cancelled' };
}

function limitsOf(hostile: HostileCase, factor: number): SandboxLimits {
  const usual = { ...limits, ...hostile.limits };
  return { ...usual, timeoutMs: usual.timeoutMs * factor };
}

function nameOf(hostile: HostileCase, cases: readonly HostileCase[]): string {
  return `case-${cases.indexOf(hostile)}.mjs`;
}
