import type { Logger } from '../kernel/logger.ts';
import type { Extractor } from './extraction.ts';
import { type Host, type HostOptions, startHost } from './host.ts';
import { createTurns } from './turns.ts';

export interface ExtractorOptions {
  /** Most documents read at once, a process each. */
  readonly processes?: number;
  /** Wall-clock time to read one document, in milliseconds. */
  readonly timeoutMs?: number;
  /** Memory of one process, in MiB. */
  readonly memoryMb?: number;
  /** A process without work ends after so many milliseconds. */
  readonly idleMs?: number;
  /** What a process runs; absent: the reader of documents. */
  readonly program?: string;
  readonly logger: Logger;
}

export const extractorDefaults = { processes: 2, timeoutMs: 120_000, memoryMb: 1024, idleMs: 60_000 } as const;

/** A pool of processes, started when needed. More documents than processes wait in order. */
export function openExtractor(given: ExtractorOptions): Extractor {
  const options = { ...extractorDefaults, ...given };
  const hosts = createHosts(options);
  const turns = createTurns(options.processes);
  const closing = new AbortController();
  return {
    extract: async (task, signal) => {
      const stop = AbortSignal.any([signal, closing.signal]);
      if (!(await turns.wait(stop))) return { kind: 'cancelled' };
      const host = hosts.take();
      try {
        return await host.run(task, stop);
      } finally {
        await hosts.giveBack(host);
        turns.pass();
      }
    },
    close: async () => {
      closing.abort();
      await hosts.close();
    },
  };
}

interface Hosts {
  /** The warmest of the idle processes that are fit, or a new one. */
  take(): Host;
  giveBack(host: Host): Promise<void>;
  /** Resolves when all processes are gone. */
  close(): Promise<void>;
}

function createHosts(options: HostOptions & { readonly idleMs: number }): Hosts {
  const all = new Set<Host>();
  const idle: Host[] = [];
  const timers = new Map<Host, NodeJS.Timeout>();
  let closed = false;

  async function retire(host: Host): Promise<void> {
    clearTimeout(timers.get(host));
    timers.delete(host);
    await host.stop();
    all.delete(host);
  }

  return {
    take: () => {
      for (let host = idle.pop(); host !== undefined; host = idle.pop()) {
        clearTimeout(timers.get(host));
        if (host.isFit()) return host;
        void retire(host);
      }
      const host = startHost(options);
      all.add(host);
      return host;
    },
    giveBack: async (host) => {
      if (closed || !host.isFit()) return retire(host);
      idle.push(host);
      const rest = () => {
        idle.splice(idle.indexOf(host), 1);
        void retire(host);
      };
      timers.set(host, setTimeout(rest, options.idleMs));
    },
    close: async () => {
      closed = true;
      await Promise.all([...all].map(retire));
    },
  };
}
