import type { Logger } from '../kernel/logger.ts';
import type { ExtractionOutcome, ExtractionTask, Extractor } from './extraction.ts';
import { type Host, startHost } from './host.ts';

export interface ExtractorOptions {
  /** Most documents read at once, a process each. */
  readonly processes?: number;
  /** Wall-clock time to read one document, in milliseconds. */
  readonly timeoutMs?: number;
  /** Memory of one process, in MiB. */
  readonly memoryMb?: number;
  /** A process without work ends after so many milliseconds. */
  readonly idleMs?: number;
  readonly logger: Logger;
}

export const extractorDefaults = { processes: 2, timeoutMs: 120_000, memoryMb: 1024, idleMs: 60_000 } as const;

/** A pool of processes, started when needed. More documents than processes wait in order. */
export function openExtractor({ logger, ...given }: ExtractorOptions): Extractor {
  const options = { ...extractorDefaults, ...given, logger };
  const all = new Set<Host>();
  const idle: Array<{ host: Host; timer: NodeJS.Timeout }> = [];
  const waiting: Array<() => void> = [];
  const closing = new AbortController();
  let busy = 0;

  /** The warmest of the idle processes that are still fit, or a new one. */
  function takeHost(): Host {
    for (let found = idle.pop(); found !== undefined; found = idle.pop()) {
      clearTimeout(found.timer);
      if (found.host.isFit()) return found.host;
      void retire(found.host);
    }
    const host = startHost(options);
    all.add(host);
    return host;
  }

  async function retire(host: Host): Promise<void> {
    await host.stop();
    all.delete(host);
  }

  async function giveBack(host: Host): Promise<void> {
    if (closing.signal.aborted || !host.isFit()) return retire(host);
    const timer = setTimeout(() => {
      idle.splice(
        idle.findIndex((entry) => entry.host === host),
        1,
      );
      void retire(host);
    }, options.idleMs);
    idle.push({ host, timer });
  }

  /** False when the signal came first. */
  async function waitForTurn(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    if (busy < options.processes) {
      busy += 1;
      return true;
    }
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const turn = () => resolve(true);
    const cancel = () => {
      const place = waiting.indexOf(turn);
      // When the turn came at the same moment it is ours, and is passed on by the end of the run.
      if (place !== -1) waiting.splice(place, 1);
      resolve(place === -1);
    };
    waiting.push(turn);
    signal.addEventListener('abort', cancel, { once: true });
    const came = await promise;
    signal.removeEventListener('abort', cancel);
    return came;
  }

  function passTurn(): void {
    const next = waiting.shift();
    if (next === undefined) busy -= 1;
    else next();
  }

  async function extract(task: ExtractionTask, signal: AbortSignal): Promise<ExtractionOutcome> {
    const stop = AbortSignal.any([signal, closing.signal]);
    if (!(await waitForTurn(stop))) return { kind: 'cancelled' };
    try {
      const host = takeHost();
      try {
        return await host.run(task, stop);
      } finally {
        await giveBack(host);
      }
    } finally {
      passTurn();
    }
  }

  return {
    extract,
    close: async () => {
      closing.abort();
      for (const { timer } of idle) clearTimeout(timer);
      await Promise.all([...all].map((host) => retire(host)));
    },
  };
}
