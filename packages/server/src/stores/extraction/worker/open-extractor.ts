import { keptPlaces } from '../../../platform/admission/admission-queue.ts';
import type { Owner } from '../../../platform/admission/owner.ts';
import type { CommonDeps } from '../../../platform/common-deps.ts';
import { onceRetried } from '../../../platform/concurrency/once.ts';
import type { SpawnSettings } from '../../../platform/processes/isolation/spawn-isolated.ts';
import type { ExtractionOutcome, ExtractionTask, Extractor } from '../extraction.ts';
import { noOcr, type OcrEngine } from '../ocr/open-ocr.ts';
import { type Host, startHost } from './host.ts';
import { findReaderIsolation } from './reader-isolation.ts';

export interface ExtractorOptions extends Pick<CommonDeps, 'admission' | 'logger'> {
  /**
   * The maximum number of concurrent documents, each in its own process. It also limits the processes, including idle
   * ones. Two more are kept for a project and for a key without a document in progress.
   */
  readonly processes?: number;
  /** Wall-clock time to read one document, in milliseconds. */
  readonly timeoutMs?: number;
  /** Memory of one process, in MiB. */
  readonly memoryMb?: number;
  /** A process without work ends after this time, in milliseconds. */
  readonly idleMs?: number;
  /** The program of a process. Default: the extraction program. */
  readonly program?: string;
  /** The isolation of the processes. Default: the best that this machine offers, determined with the first document. */
  readonly isolation?: () => Promise<SpawnSettings>;
  /** OCR of scanned pages, opened with the first document. Default: scanned pages are not read. */
  readonly ocr?: () => Promise<OcrEngine>;
}

export const extractorDefaults = { processes: 2, timeoutMs: 120_000, memoryMb: 1024, idleMs: 60_000 } as const;

/**
 * Starts processes on demand. Further documents wait. Projects and keys are served in turn, because
 * one document may take minutes. A process reads for one key of one project only, so that another key finds its
 * own process when long documents occupy the others. If the limit is reached, the process that has been idle longest ends.
 */
export function openExtractor(requested: ExtractorOptions): Extractor {
  const options = { ...extractorDefaults, ...requested };
  const isolation = requested.isolation ?? onceRetried(() => findReaderIsolation(options.logger));
  const pool = createHosts(options);
  const { admission } = options;
  const queue = admission.queue('extraction', { permits: options.processes });
  const closing = new AbortController();

  async function read(task: ExtractionTask, signal: AbortSignal): Promise<ExtractionOutcome> {
    const start = { ...options, isolation: await isolation(), ocr: (await options.ocr?.()) ?? noOcr };
    const worker = await pool.take(ownerOf(task), () => (signal.aborted ? undefined : startHost(start)));
    if (worker === undefined) return { kind: 'cancelled' };
    try {
      return await worker.host.run(task, signal);
    } finally {
      await pool.release(worker);
    }
  }

  return {
    extract: async (task, signal) => {
      const stop = AbortSignal.any([signal, closing.signal]);
      const wait = { signal: stop, isAccepted: task.isAccepted === true };
      return (await queue.run(ownerOf(task), () => read(task, stop), wait)) ?? { kind: 'cancelled' };
    },
    close: async () => {
      closing.abort();
      await pool.close();
    },
  };
}

function ownerOf({ projectId, keyId }: ExtractionTask): Owner {
  return { projectId, keyId: keyId ?? null };
}

/** A process with the project and the key that it reads for. */
interface Worker extends Owner {
  readonly host: Host;
}

interface Hosts {
  /**
   * Returns the owner's most recently used idle process that is fit, or starts a new one if the limit allows.
   * @returns undefined when `start` starts none
   */
  take(owner: Owner, start: () => Host | undefined): Promise<Worker | undefined>;
  release(worker: Worker): Promise<void>;
  /** Resolves when all processes have ended. */
  close(): Promise<void>;
}

/** Milliseconds after which an idle process beyond `processes` ends. Starting one for each short document would take longer than reading it. */
const surplusIdleMs = 15_000;

/** Documents in kept places have processes beyond `processes`. A surplus process ends sooner. */
function createHosts({ processes, idleMs }: { readonly processes: number; readonly idleMs: number }): Hosts {
  const most = processes + keptPlaces;
  const all = new Set<Worker>();
  /** Idle processes, the longest idle first. */
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

  function takeIdle({ projectId, keyId }: Owner): Worker | undefined {
    for (const worker of [...idle.keys()].reverse()) {
      if (worker.projectId !== projectId || worker.keyId !== keyId) continue;
      if (worker.host.isFit()) {
        clearTimeout(idle.get(worker));
        idle.delete(worker);
        return worker;
      }
      void retire(worker);
    }
    return undefined;
  }

  function add(owner: Owner, host: Host | undefined): Worker | undefined {
    if (host === undefined) return undefined;
    const worker = { ...owner, host };
    all.add(worker);
    return worker;
  }

  return {
    take: async (owner, start) => {
      for (;;) {
        const found = takeIdle(owner);
        if (found !== undefined) return found;
        if (all.size < most) return add(owner, start());
        const [longest] = idle.keys();
        await (longest === undefined ? Promise.race(leaving.values()) : retire(longest));
      }
    },
    release: async (worker) => {
      if (closed || !worker.host.isFit()) return retire(worker);
      const isSurplus = all.size - leaving.size > processes;
      const ms = isSurplus ? Math.min(idleMs, surplusIdleMs) : idleMs;
      idle.set(
        worker,
        setTimeout(() => void retire(worker), ms),
      );
    },
    close: async () => {
      closed = true;
      await Promise.all([...all].map(retire));
    },
  };
}
