import { onceRetried } from '../../kernel/concurrency/once-retried.ts';
import { createSemaphore } from '../../kernel/concurrency/semaphore.ts';
import type { Logger } from '../../kernel/log/logger.ts';
import type { SpawnSettings } from '../../processes/isolation/spawn-isolated.ts';
import type { ExtractionOutcome, ExtractionTask, Extractor } from '../extraction.ts';
import { type Host, startHost } from './host.ts';
import { findReaderIsolation } from './reader-isolation.ts';

export interface ExtractorOptions {
  /** Most documents read at once, a process each; and most processes, idle ones included. */
  readonly processes?: number;
  /** Wall-clock time to read one document, in milliseconds. */
  readonly timeoutMs?: number;
  /** Memory of one process, in MiB. */
  readonly memoryMb?: number;
  /** A process without work ends after so many milliseconds. */
  readonly idleMs?: number;
  /** What a process runs; absent: the reader of documents. */
  readonly program?: string;
  /** How processes are isolated. Absent: as this machine allows, found when the first document comes. */
  readonly isolation?: () => Promise<SpawnSettings>;
  readonly logger: Logger;
}

export const extractorDefaults = { processes: 2, timeoutMs: 120_000, memoryMb: 1024, idleMs: 60_000 } as const;

/**
 * Processes that are started when needed. More documents than processes wait in order. A process reads for one project
 * only: where there is no room for another process, the one that has been idle longest ends.
 */
export function openExtractor(given: ExtractorOptions): Extractor {
  const options = { ...extractorDefaults, ...given };
  const isolation = given.isolation ?? onceRetried(() => findReaderIsolation(options.logger));
  const pool = createHosts(options.processes, options.idleMs);
  const semaphore = createSemaphore({ permits: options.processes });
  const closing = new AbortController();

  async function read(task: ExtractionTask, signal: AbortSignal): Promise<ExtractionOutcome> {
    const start = { ...options, isolation: await isolation() };
    const worker = await pool.take(task.projectId, () => (signal.aborted ? undefined : startHost(start)));
    if (worker === undefined) return { kind: 'cancelled' };
    try {
      return await worker.host.run(task, signal);
    } finally {
      await pool.giveBack(worker);
    }
  }

  return {
    extract: async (task, signal) => {
      const stop = AbortSignal.any([signal, closing.signal]);
      if (!(await semaphore.acquire(stop))) return { kind: 'cancelled' };
      try {
        return await read(task, stop);
      } finally {
        semaphore.release();
      }
    },
    close: async () => {
      closing.abort();
      await pool.close();
    },
  };
}

/** A process, and the one project that it reads for. */
interface Worker {
  readonly projectId: string;
  readonly host: Host;
}

interface Hosts {
  /**
   * The warmest of the project's idle processes that are fit, or a new one, when there is room for it. Undefined when
   * `start` starts none.
   */
  take(projectId: string, start: () => Host | undefined): Promise<Worker | undefined>;
  giveBack(worker: Worker): Promise<void>;
  /** Resolves when all processes are gone. */
  close(): Promise<void>;
}

function createHosts(most: number, idleMs: number): Hosts {
  const all = new Set<Worker>();
  /** The longest idle first. */
  const idle = new Map<Worker, NodeJS.Timeout>();
  const leaving = new Map<Worker, Promise<void>>();
  let closed = false;

  function retire(worker: Worker): Promise<void> {
    clearTimeout(idle.get(worker));
    idle.delete(worker);
    const gone = leaving.get(worker) ?? end(worker);
    leaving.set(worker, gone);
    return gone;
  }

  async function end(worker: Worker): Promise<void> {
    await worker.host.stop();
    all.delete(worker);
    leaving.delete(worker);
  }

  function takeIdle(projectId: string): Worker | undefined {
    for (const worker of [...idle.keys()].reverse()) {
      if (worker.projectId !== projectId) continue;
      if (worker.host.isFit()) {
        clearTimeout(idle.get(worker));
        idle.delete(worker);
        return worker;
      }
      void retire(worker);
    }
    return undefined;
  }

  function add(projectId: string, host: Host | undefined): Worker | undefined {
    if (host === undefined) return undefined;
    const worker = { projectId, host };
    all.add(worker);
    return worker;
  }

  return {
    take: async (projectId, start) => {
      for (;;) {
        const found = takeIdle(projectId);
        if (found !== undefined) return found;
        if (all.size < most) return add(projectId, start());
        const [longest] = idle.keys();
        await (longest === undefined ? Promise.race(leaving.values()) : retire(longest));
      }
    },
    giveBack: async (worker) => {
      if (closed || !worker.host.isFit()) return retire(worker);
      idle.set(
        worker,
        setTimeout(() => void retire(worker), idleMs),
      );
    },
    close: async () => {
      closed = true;
      await Promise.all([...all].map(retire));
    },
  };
}
