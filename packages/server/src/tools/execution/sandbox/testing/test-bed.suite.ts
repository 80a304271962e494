import { readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createAdmission } from '../../../../platform/admission/admission.ts';
import { createLogger } from '../../../../platform/log/logger.ts';
import { createMetrics } from '../../../../platform/metrics.ts';
import { openSandbox, type SandboxOptions } from '../open-sandbox.ts';
import type { Sandbox, SandboxLimits, SandboxOutcome, SandboxTask } from '../sandbox.ts';

/** A sandbox for tests, with bundles in a temporary folder that every user may read. */
export interface TestBed extends AsyncDisposable {
  readonly folder: string;
  readonly sandbox: Sandbox;
  /** The log lines of the sandbox. */
  readonly log: readonly string[];
  /** Writes a bundle from file names and sources. The handler is `run.mjs` unless the task names another file. */
  addBundle(bundleId: string, files: Readonly<Record<string, string>>): Promise<void>;
  run(bundleId: string, change?: Change): Promise<SandboxOutcome>;
}

type Change = Partial<Omit<SandboxTask, 'limits'>> & {
  readonly limits?: Partial<SandboxLimits>;
  readonly signal?: AbortSignal;
};

const limits: SandboxLimits = {
  ...{ timeoutMs: 10_000, memoryMb: 256, cpuMs: 600_000 },
  ...{ maxOutputBytes: 1024 * 1024, maxRequests: 10 },
};

export interface TestBedOptions extends Partial<SandboxOptions> {
  /** The default for all runs. */
  readonly isolation?: 'process' | 'sandbox';
  /** The number of processes, without the two that are kept. Default: 4. */
  readonly maxChildren?: number;
}

export async function openTestBed({
  isolation = 'process',
  maxChildren = 4,
  mostMemoryMb = 1_024,
  ...options
}: TestBedOptions = {}): Promise<TestBed> {
  const log: string[] = [];
  const sandbox = await openSandbox({
    admission: createAdmission(),
    maxChildrenPerBundle: 2,
    memoryBudgetMb: (maxChildren + 2) * mostMemoryMb,
    mostMemoryMb,
    queueLength: 100,
    idleMs: 60_000,
    recycleAfterRuns: 10_000,
    logger: createLogger('debug', { write: (line) => log.push(line) }),
    metrics: createMetrics(),
    ...options,
  });
  // Opens the sandbox first: when that is refused, no folder is left.
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'quartermaster-sandbox-')));
  await chmod(folder, 0o755);

  return {
    folder,
    sandbox,
    log,
    addBundle: async (bundleId, files) => {
      await mkdir(join(folder, bundleId), { mode: 0o755 });
      for (const [name, source] of Object.entries(files)) await writeFile(join(folder, bundleId, name), source);
    },
    run: (bundleId, { signal = new AbortController().signal, limits: changed, ...change } = {}) => {
      const task = {
        ...{ bundleId, bundleFolder: join(folder, bundleId), handlerPath: 'run.mjs', input: {}, isolation },
        onFetch: () => Promise.reject(new Error('this test expects no request')),
        onLog: () => {},
        onProgress: () => {},
        ...change,
      };
      return sandbox.run({ ...task, limits: { ...limits, ...changed } }, signal);
    },
    [Symbol.asyncDispose]: async () => {
      await sandbox.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** Returns the process ids of the living children of a process. */
export function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}

/** Returns whether the process is alive. A zombie is not. */
export function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** Polls until the condition holds. `what` is for the reader. */
export async function until(_what: string, holds: () => boolean): Promise<void> {
  while (!holds()) await pause(5);
}

/** A run whose handler waits for the answer to its request. */
export interface HeldRun {
  readonly outcome: Promise<SandboxOutcome>;
  readonly begun: Promise<void>;
  readonly release: () => void;
}

/** Starts a run that ends when it is released, because its request is answered then. */
export function hold(bed: TestBed, bundleId: string, change: Change = {}): HeldRun {
  const begun = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const onFetch = async () => {
    begun.resolve();
    await released.promise;
    return { status: 200, headers: {}, text: '' };
  };
  return { outcome: bed.run(bundleId, { onFetch, ...change }), begun: begun.promise, release: released.resolve };
}
