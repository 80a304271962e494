import type { JournalRun, RunJournal, RunProgress } from '../execution/run-journal.ts';
import type { Logger } from '../kernel/logger.ts';
import { Counter, Gauge, type Registry } from '../kernel/metrics.ts';
import { createSteadySet } from '../kernel/steady-set.ts';
import { endedRun, underWay } from './ended-run.ts';
import type { PackedRun, RunRepository, StoredRun } from './run-repository.ts';

export interface RunRecorderDeps {
  readonly repository: Pick<RunRepository, 'pack' | 'unpack' | 'add'>;
  /** Whether the records of a project hold inputs. */
  readonly keepsInputs: (projectId: string) => boolean;
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly options?: Partial<RecorderOptions>;
}

interface RecorderOptions {
  /** Milliseconds that a record waits for others to be stored with. */
  readonly waitMs: number;
  /** Records of one statement: the event loop makes them all at once. */
  readonly groupSize: number;
  /** Records that may wait; beyond that the oldest are dropped. */
  readonly maxWaiting: number;
}

const defaults: RecorderOptions = { waitMs: 250, groupSize: 500, maxWaiting: 20_000 };

/**
 * Keeps account of the runs of this process. On the way of a run it only notes things in memory; the records of those
 * that have ended are stored in groups. When the database cannot keep up, records are lost, never time (ADR 0026).
 */
export interface RunRecorder extends RunJournal {
  /** Runs of a project that may not be stored: those under way, and those that wait. */
  recent(projectId: string): StoredRun[];
  findRecent(projectId: string, runId: string): StoredRun | undefined;
  /** The run under way, of this process. */
  findLive(projectId: string, runId: string): JournalRun | undefined;
  /** Tells about a run under way until `stop` is called. */
  watch(runId: string, listener: RunListener): { stop(): void };
  /** An asynchronous run has begun, or its end is stored. */
  changed(runId: string): void;
  /** What a run under way of this process has told last. */
  progressOf(runId: string): RunProgress | null;
  /** Stores what waits. */
  close(): Promise<void>;
}

export interface RunListener {
  progressed(): void;
  changed(): void;
}

export function createRunRecorder(deps: RunRecorderDeps): RunRecorder {
  const { pack, unpack } = deps.repository;
  const options = { ...defaults, ...deps.options };
  const live = createSteadySet<JournalRun>();
  const listeners = new Map<string, Set<RunListener>>();
  const progress = new Map<string, RunProgress>();
  const store = createStore(deps, options);
  const changed = (runId: string) => {
    for (const listener of listeners.get(runId) ?? []) listener.changed();
  };
  new Gauge({
    name: 'quartermaster_runs_under_way',
    help: 'Runs of plugins that have begun and not ended.',
    registers: [deps.metrics],
    collect() {
      this.set(live.size());
    },
  });

  function findUnderWay(runId: string): JournalRun | undefined {
    return live.members().find((run) => run.runId === runId);
  }

  function ended(projectId: string): PackedRun[] {
    return store.waiting().filter((run) => run.projectId === projectId);
  }

  return {
    begun: (run) => {
      live.add(run);
    },
    progressed: ({ runId }, said) => {
      progress.set(runId, said);
      for (const listener of listeners.get(runId) ?? []) listener.progressed();
    },
    ended: (run, execution) => {
      const keeps = deps.keepsInputs(run.caller.projectId);
      // Stored before it is no longer under way: whoever looks finds it in one of the two.
      if (run.caller.keepsOwnRecord !== true) {
        store.add(pack(endedRun(run, execution, { words: keeps, input: keeps })));
      }
      live.delete(run);
      progress.delete(run.runId);
      changed(run.runId);
    },
    changed,
    progressOf: (runId) => progress.get(runId) ?? null,
    recent: (projectId) => {
      const begun = live.members().filter(({ caller }) => caller.projectId === projectId);
      return [...ended(projectId).map(unpack), ...begun.map((run) => underWay(run))];
    },
    findRecent: (projectId, runId) => {
      const run = findUnderWay(runId);
      if (run !== undefined) return run.caller.projectId === projectId ? underWay(run) : undefined;
      const found = ended(projectId).find(({ id }) => id === runId);
      return found && unpack(found);
    },
    findLive: (projectId, runId) => {
      const run = findUnderWay(runId);
      return run?.caller.projectId === projectId ? run : undefined;
    },
    watch: (runId, listener) => {
      const ofRun = listeners.get(runId) ?? new Set();
      listeners.set(runId, ofRun.add(listener));
      return {
        stop: () => {
          ofRun.delete(listener);
          if (ofRun.size === 0) listeners.delete(runId);
        },
      };
    },
    close: () => store.close(),
  };
}

interface Store {
  add(run: PackedRun): void;
  /** The oldest first. */
  waiting(): readonly PackedRun[];
  close(): Promise<void>;
}

/** Tries of one group until it is given up: a database that is away for a moment loses nothing. */
const triesOfGroup = 8;
const pauseAfterFailureMs = 1000;
/** Milliseconds between two warnings. */
const warnEveryMs = 10_000;

function createStore({ repository, logger, metrics }: RunRecorderDeps, options: RecorderOptions): Store {
  const dropped = new Counter({
    name: 'quartermaster_run_records_dropped_total',
    help: 'Records of runs that were lost because the database could not keep up.',
    registers: [metrics],
  });
  const buffer: PackedRun[] = [];
  /** Being stored; still to be found here. */
  let group: PackedRun[] = [];
  let timer: NodeJS.Timeout | undefined;
  let storing: Promise<void> | undefined;
  let failures = 0;
  let warnedAt = Number.NEGATIVE_INFINITY;

  function drop(runs: readonly PackedRun[], reason: string): void {
    dropped.inc(runs.length);
    if (performance.now() - warnedAt < warnEveryMs) return;
    warnedAt = performance.now();
    logger.warn({ reason, runs: runs.length }, 'records of runs are lost');
  }

  async function storeGroup(): Promise<void> {
    if (group.length === 0) group = buffer.splice(0, options.groupSize);
    if (group.length === 0) return;
    try {
      await repository.add(group);
      group = [];
      failures = 0;
    } catch (error) {
      failures += 1;
      logger.warn({ err: error, failures }, 'records of runs could not be stored');
      if (failures < triesOfGroup) return;
      drop(group, 'the database refuses them');
      group = [];
      failures = 0;
    }
  }

  async function storeAll(): Promise<void> {
    do await storeGroup();
    while (failures === 0 && buffer.length >= options.groupSize);
    storing = undefined;
    if (buffer.length + group.length > 0) storeAfter(failures > 0 ? pauseAfterFailureMs : options.waitMs);
  }

  function storeAfter(ms: number): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      storing = storeAll();
    }, ms);
  }

  return {
    add: (run) => {
      // A tenth at once: taking the first off a long list costs more than all the rest of this.
      if (buffer.length >= options.maxWaiting)
        drop(buffer.splice(0, Math.ceil(options.maxWaiting / 10)), 'too many wait');
      buffer.push(run);
      if (timer === undefined && storing === undefined) storeAfter(options.waitMs);
    },
    waiting: () => (group.length === 0 ? buffer : [...group, ...buffer]),
    close: async () => {
      clearTimeout(timer);
      await storing;
      clearTimeout(timer);
      failures = 0;
      while (buffer.length + group.length > 0 && failures === 0) await storeGroup();
      if (buffer.length + group.length > 0) drop([...group, ...buffer], 'the service stops');
    },
  };
}
