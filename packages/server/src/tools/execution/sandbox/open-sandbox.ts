import { realpath } from 'node:fs/promises';
import { resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Admission } from '../../../platform/admission/admission.ts';
import { type Clock, systemClock } from '../../../platform/clock.ts';
import type { CommonDeps } from '../../../platform/common-deps.ts';
import { Counter, type Registry, registerGauge } from '../../../platform/metrics.ts';
import {
  type CgroupProbe,
  cgroupsOff,
  openCgroups,
} from '../../../platform/processes/isolation/cgroup/open-cgroups.ts';
import { findIsolation } from '../../../platform/processes/isolation/find-isolation.ts';
import {
  isReadableByAll,
  type Probe,
  type SandboxProbe,
  sandboxRemedy,
} from '../../../platform/processes/isolation/probe.ts';
import { nobody, type SpawnSettings } from '../../../platform/processes/isolation/spawn-isolated.ts';
import { createUsageWatch } from '../../../platform/processes/usage-watch.ts';
import { type Assignment, createHost } from './host.ts';
import { createPool, type Pool } from './pool.ts';
import {
  mostMemoryMb as mostOfRunMb,
  type Sandbox,
  type SandboxCapabilities,
  type SandboxOutcome,
  type SandboxTask,
} from './sandbox.ts';
import { createSlots } from './slots.ts';
import { pieceHandler, spawnChild } from './spawn-child.ts';

export interface SandboxOptions extends Pick<CommonDeps, 'logger' | 'metrics'> {
  /**
   * The maximum number of processes of one bundle. It is lowered so that one bundle cannot occupy all processes.
   */
  readonly maxChildrenPerBundle: number;
  /**
   * The memory of all processes together, in MiB: at least that of four. Each process counts with `mostMemoryMb`. Two processes are
   * kept: one for a key that runs nothing, and one for a project that has no process.
   */
  readonly memoryBudgetMb: number;
  /** The highest memory limit of a run, in MiB. Default: 256. */
  readonly mostMemoryMb?: number;
  /** Runs that may wait in total. One bundle and project may use half of the places. */
  readonly queueLength: number;
  /** Milliseconds after which an idle child is stopped. */
  readonly idleMs: number;
  readonly recycleAfterRuns: number;
  /** The least milliseconds that a run may wait for a child. A run with a longer time limit may wait for that long. Default: 5,000. */
  readonly leastWaitMs?: number;
  /** `auto`: each process gets a control group where the machine allows the server to create them (ADR 0055). Default: `off`. */
  readonly cgroups?: 'auto' | 'off';
  /** Reports the runs and the waiting runs as the queue `plugin_processes`. */
  readonly admission: Admission;
  readonly clock?: Clock;
}

/** The processes that are kept beyond those that the slots give to every run. */
const keptChildren = 2;

/** The pool of one bundle and project, and the real paths of its files. */
interface Home {
  readonly pool: Pool;
  readonly folder: string;
  readonly handlerUrls: Map<string, string>;
  readonly hiddenFolders: readonly string[];
  lastAsked: number;
}

/** Probes which isolation this machine enforces, then runs handlers with it. `close` stops every process. */
export async function openSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { memoryBudgetMb, mostMemoryMb = mostOfRunMb, queueLength, logger, clock = systemClock } = options;
  const maxChildren = Math.floor(memoryBudgetMb / mostMemoryMb) - keptChildren;
  if (maxChildren < 2) throw new RangeError(`memoryBudgetMb (${memoryBudgetMb}) must be at least ${4 * mostMemoryMb}`);
  const maxChildrenPerBundle = Math.min(options.maxChildrenPerBundle, maxChildren - 1);
  const { machine, sandbox } = await findIsolation();
  const { cgroups, state: cgroup } = await findCgroups(options, machine.settings);
  const capabilities: SandboxCapabilities = { ...machine.capabilities, sandbox: describeSandbox(sandbox), cgroup };
  logger.info(loggedFacts(capabilities, machine), 'plugin sandbox opened');
  if (sandbox.settings === undefined) {
    const { missing, detail } = sandbox;
    logger.warn({ missing, detail, remedy: sandboxRemedy }, 'handlers refused: no sandbox available');
  }
  const homes = new Map<string, Home>();
  const openings = new Map<string, Promise<Home>>();
  const pools = new Set<Pool>();
  const maxChildrenOfBundle = Math.max(maxChildrenPerBundle, maxChildren - maxChildrenPerBundle);
  const slots = createSlots(() => pools, { ...options, maxChildren, maxChildrenOfBundle, clock });
  const usage = createUsageWatch();
  const countRun = registerMetrics(options.metrics, pools);

  async function openHome(task: SandboxTask): Promise<Home> {
    const { bundleId, bundleFolder, projectId = null, limits, isolation = 'process', piece } = task;
    if (piece !== undefined && isolation !== 'sandbox') throw new Error('Pieces run in a sandbox only.');
    const folder = await realpath(bundleFolder);
    const settings = isolation === 'sandbox' ? sandbox.settings : machine.settings;
    if (settings === undefined)
      throw new Error('This machine does not provide the isolation that the settings require.');
    if (limits.memoryMb > mostMemoryMb) throw new RangeError(`A run may use at most ${mostMemoryMb} MiB.`);
    const own = await settingsFor(folder, settings, () => logger.warn({ bundle_id: bundleId }, unshared));
    const child = { ...own, cgroups };
    const { memoryMb } = limits;
    const plan = { bundleFolder: folder, memoryMb, isPiece: piece !== undefined };
    const owner = { bundleId, projectId };
    const shared = { owner, slots, clock, memoryMb, maxChildren: maxChildrenPerBundle };
    const pool = createPool({
      ...shared,
      queueLength: Math.max(1, Math.ceil(queueLength / 2)),
      recycleAfterRuns: options.recycleAfterRuns,
      leastWaitMs: options.leastWaitMs ?? 5_000,
      startHost: () => createHost(spawnChild(plan, child), usage),
      onCrash(printed) {
        logger.warn({ bundle_id: bundleId }, 'plugin process exited early');
        logger.debug({ bundle_id: bundleId, printed }, 'plugin process printed');
      },
    });
    pools.add(pool);
    return {
      pool,
      folder,
      handlerUrls: new Map(),
      hiddenFolders: [folder, bundleFolder, import.meta.dirname],
      lastAsked: clock.now(),
    };
  }

  async function findHome(key: string, task: SandboxTask): Promise<Home> {
    const opening = openings.get(key) ?? openHome(task);
    openings.set(key, opening);
    try {
      const home = await opening;
      homes.set(key, home);
      return home;
    } finally {
      openings.delete(key);
    }
  }

  async function run(task: SandboxTask, signal: AbortSignal): Promise<SandboxOutcome> {
    const key = keyOf(task);
    const home = homes.get(key) ?? (await findHome(key, task));
    home.lastAsked = clock.now();
    const { pool, folder, handlerUrls, hiddenFolders } = home;
    const handlerUrl = handlerUrls.get(task.handlerPath) ?? (await findHandler(folder, task.handlerPath));
    handlerUrls.set(task.handlerPath, handlerUrl);
    const outcome = await pool.run({ ...assignmentOf(task, handlerUrl), signal, hiddenFolders });
    countRun(outcome.kind);
    return outcome;
  }

  const sweep = setInterval(
    () => {
      const latest = clock.now() - options.idleMs;
      endIdle(pools, latest);
      for (const pool of forgetUnused(homes, latest)) pools.delete(pool);
    },
    Math.min(options.idleMs, 1_000),
  ).unref();

  return {
    run,
    capabilities,
    close: async () => {
      clearInterval(sweep);
      await Promise.all([...pools].map((pool) => pool.close()));
      await cgroups?.close();
    },
  };
}

function findCgroups({ cgroups, logger }: SandboxOptions, { user }: SpawnSettings): Promise<CgroupProbe> {
  if (cgroups !== 'auto') return Promise.resolve(cgroupsOff);
  return openCgroups({ user: user === 'own' ? nobody : user, logger });
}

function describeSandbox(probe: SandboxProbe): SandboxCapabilities['sandbox'] {
  return probe.settings === undefined ? { available: false, missing: probe.missing } : { available: true };
}

const unshared = 'bundle not readable by all users: its plugins run as the user of the service';

/** @param onUnshared called when the plugins cannot have a user of their own, because other users cannot read the folder */
async function settingsFor(folder: string, settings: SpawnSettings, onUnshared: () => void): Promise<SpawnSettings> {
  if (settings.user === undefined || (await isReadableByAll(folder))) return settings;
  onUnshared();
  return { ...settings, user: undefined };
}

function endIdle(pools: Iterable<Pool>, latest: number): void {
  for (const pool of pools) while ((pool.idleSince() ?? Number.POSITIVE_INFINITY) <= latest) pool.stopLongestIdle();
}

/** Removes the entries of bundle versions that are no longer used. @returns their pools, which have no process */
function forgetUnused(homes: Map<string, Home>, latest: number): Pool[] {
  const unused: Pool[] = [];
  for (const [key, { pool, lastAsked }] of homes) {
    const { children, waiting } = pool.counts();
    if (lastAsked > latest || children > 0 || waiting > 0) continue;
    homes.delete(key);
    unused.push(pool);
  }
  return unused;
}

/** The `file:` URL of a handler. Throws when the file does not exist or its real path is outside the bundle's folder. */
async function findHandler(folder: string, handlerPath: string): Promise<string> {
  const path = await realpath(resolve(folder, handlerPath));
  if (!path.startsWith(folder + sep)) throw new Error('A handler must be inside the folder of its bundle.');
  return pathToFileURL(path).href;
}

/** Runs with equal keys may share a process. */
function keyOf({ piece, projectId, isolation, bundleId, limits, bundleFolder, bundleStamp }: SandboxTask): string {
  const version = [bundleFolder, bundleStamp ?? ''];
  return [piece?.credentialsDigest ?? '', projectId, isolation, bundleId, limits.memoryMb, ...version].join('\n');
}

/** The handler of a piece is its runtime, which loads the file that the input names. */
function assignmentOf(task: SandboxTask, url: string): Pick<Assignment, 'task' | 'handlerUrl'> {
  if (task.piece === undefined) return { task, handlerUrl: url };
  return { task: { ...task, input: { ...task.input, file: url } }, handlerUrl: pathToFileURL(pieceHandler()).href };
}

function sum(pools: Iterable<Pool>, what: 'children' | 'waiting'): number {
  let all = 0;
  for (const pool of pools) all += pool.counts()[what];
  return all;
}

/** @returns a function that counts a run by its outcome */
function registerMetrics(metrics: Registry, pools: ReadonlySet<Pool>): (outcome: SandboxOutcome['kind']) => void {
  const registers = [metrics];
  registerGauge(metrics, 'quartermaster_sandbox_children', 'Plugin processes.', () => sum(pools, 'children'));
  registerGauge(metrics, 'quartermaster_sandbox_waiting', 'Runs waiting for a process.', () => sum(pools, 'waiting'));
  const runs = new Counter({
    name: 'quartermaster_sandbox_runs_total',
    help: 'Handler runs by outcome.',
    labelNames: ['outcome'],
    registers,
  });
  return (outcome) => runs.inc({ outcome });
}

/** The fields of the log line, in snake_case. */
function loggedFacts(capabilities: SandboxCapabilities, { denied, endsWithServer: ends_with_server }: Probe) {
  const { permissions, networkDenied: network_denied, separateUser: separate_user, sandbox, cgroup } = capabilities;
  return { permissions, network_denied, separate_user, sandbox, cgroup, ends_with_server, denied };
}
