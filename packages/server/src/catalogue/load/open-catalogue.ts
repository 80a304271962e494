import { setTimeout as pause } from 'node:timers/promises';
import type { Catalogue } from '../catalogue.ts';
import { findBundleFolders } from './bundle-folders.ts';
import { createCatalogueLoader, type LoadCatalogueOptions } from './load-catalogue.ts';
import { reportUnsupported } from './report-load.ts';

/** A catalogue that follows its folders while the service runs. */
export interface LiveCatalogue {
  /** The catalogue in force: another object once bundles were added, changed or removed. */
  current(): Catalogue;
  close(): Promise<void>;
}

export interface OpenCatalogueOptions extends LoadCatalogueOptions {
  /** Called when another catalogue is in force. */
  readonly onChange?: (catalogue: Catalogue, previous: Catalogue) => void;
  /** Milliseconds between looks at the folders; default 1,000. */
  readonly lookMs?: number;
}

/** Files that still change are being copied or edited; what has stayed the same for so long is whole. */
const settleMs = 250;
/** About 2,000 plugins of the size of ours. The rest is read while the service runs; see `Catalogue.loading`. */
const maxFirstReadBytes = 2 * 1024 * 1024;
const reportAfterMs = 3_000;
/** Looking at many files takes time: at most this part of all time. */
const share = 1 / 50;

/**
 * Loads the bundles and goes on looking at their folders. Looking is done by time, not by notifications of the system:
 * those do not come from network folders and from folders that are mounted into a container.
 */
export async function openCatalogue(options: OpenCatalogueOptions): Promise<LiveCatalogue> {
  const { logger, lookMs = 1_000, onChange } = options;
  const loader = createCatalogueLoader({ firstReadBytes: maxFirstReadBytes, ...options });
  let { catalogue, stamp, isComplete } = await loader.load();
  const stopping = new AbortController();
  const { signal } = stopping;
  let reporting = report(catalogue, undefined);

  async function report(next: Catalogue, previous: Catalogue | undefined): Promise<void> {
    // Not before the service listens: whoever starts it waits for that.
    await pause(reportAfterMs, undefined, { signal, ref: false }).catch(() => undefined);
    if (!signal.aborted) reportUnsupported(next, { logger, previous });
  }

  /** Whether something has changed, and is whole by now. */
  async function hasChanged(seen: string): Promise<boolean> {
    if (seen === stamp) return false;
    await pause(settleMs, undefined, { signal });
    return (await findBundleFolders(options.folders)).stamp === seen;
  }

  async function look(): Promise<number> {
    const started = performance.now();
    const seen = (await findBundleFolders(options.folders)).stamp;
    const tookMs = performance.now() - started;
    if (isComplete && !(await hasChanged(seen))) return tookMs;
    const loaded = await loader.load();
    const previous = catalogue;
    ({ catalogue, stamp, isComplete } = loaded);
    onChange?.(catalogue, previous);
    const earlier = reporting;
    reporting = report(catalogue, previous).then(() => earlier);
    return tookMs;
  }

  async function watch(): Promise<void> {
    let waitMs = isComplete ? lookMs : 0;
    while (!signal.aborted) {
      try {
        await pause(waitMs, undefined, { signal, ref: false });
        const tookMs = await look();
        waitMs = isComplete ? Math.max(lookMs, tookMs / share) : 0;
      } catch (error) {
        waitMs = lookMs;
        if (!signal.aborted) logger.error({ err: error }, 'bundle folders not read');
      }
    }
  }

  const watching = watch();
  return {
    current: () => catalogue,
    close: async () => {
      stopping.abort();
      await loader.close();
      await Promise.all([watching, reporting]);
    },
  };
}
