import type { CommonDeps } from '../../platform/common-deps.ts';
import type { DiskSpace } from '../../platform/disk/disk-space.ts';
import { registerGauge } from '../../platform/metrics.ts';
import type { Run, RunObserver, RunProgress } from '../execution/run.ts';
import { endedRun, underWay } from './run-outcome.ts';
import type { PackedRun, RunRepository, StoredRun } from './run-repository.ts';
import { createWriteBehindBuffer } from './write-behind-buffer.ts';

export interface RunStoreDeps extends Pick<CommonDeps, 'logger' | 'metrics'> {
  readonly repository: Pick<RunRepository, 'pack' | 'unpack' | 'add'>;
  /** Whether the run records of a project include inputs. */
  readonly keepsInputs: (projectId: string | null) => boolean;
  /** Delays records while the disk is nearly full. Default: no delay. */
  readonly space?: DiskSpace | undefined;
}

/**
 * Observes the runs of this process and stores them after they end. A run never waits for the database: while it is in progress,
 * only memory changes. When the database cannot keep up, the oldest records are dropped (ADR 0026).
 */
export interface RunStore extends RunObserver {
  /** The runs of a project that may not be stored yet: those in progress, and those that wait to be stored. */
  recent(projectId: string | null): StoredRun[];
  findRecent(projectId: string | null, runId: string): StoredRun | undefined;
  /** Finds a run in progress of this process. */
  findLive(projectId: string | null, runId: string): Run | undefined;
  /** Notifies the listener about a run in progress until `stop` is called. */
  watch(runId: string, listener: RunListener): { stop(): void };
  /** An asynchronous run has begun, or its end is stored. */
  changed(runId: string): void;
  /** The last progress that a run in progress of this process has reported. */
  progressOf(runId: string): RunProgress | null;
  /** Stores the runs that wait. */
  close(): Promise<void>;
}

export interface RunListener {
  progressed(): void;
  changed(): void;
}

export function createRunStore(deps: RunStoreDeps): RunStore {
  const { pack, unpack } = deps.repository;
  const live = new Set<Run>();
  const listeners = new Map<string, Set<RunListener>>();
  const progress = new Map<string, RunProgress>();
  const buffer = createWriteBehindBuffer(deps);
  const changed = (runId: string) => {
    for (const listener of listeners.get(runId) ?? []) listener.changed();
  };
  registerGauge(deps.metrics, 'quartermaster_runs_under_way', 'Plugin runs in progress.', () => live.size);

  function findUnderWay(runId: string): Run | undefined {
    return live.values().find((run) => run.runId === runId);
  }

  function ended(projectId: string | null): PackedRun[] {
    return buffer.waiting().filter((run) => run.projectId === projectId);
  }

  return {
    begun: (run) => {
      live.add(run);
    },
    progressed: ({ runId }, update) => {
      progress.set(runId, update);
      for (const listener of listeners.get(runId) ?? []) listener.progressed();
    },
    ended: (run, execution) => {
      const keeps = deps.keepsInputs(run.caller.projectId);
      // Added to the buffer before it is removed here, so that a reader finds it in one of the two.
      if (run.caller.keepsOwnRecord !== true) {
        buffer.add(pack(endedRun(run, execution, { errorMessages: keeps, input: keeps })));
      }
      live.delete(run);
      progress.delete(run.runId);
      changed(run.runId);
    },
    changed,
    progressOf: (runId) => progress.get(runId) ?? null,
    recent: (projectId) => {
      const begun = [...live].filter(({ caller }) => caller.projectId === projectId);
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
    close: () => buffer.close(),
  };
}
