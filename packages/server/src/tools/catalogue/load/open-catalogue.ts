import { setTimeout as pause } from 'node:timers/promises';
import { coalesce } from '../../../platform/concurrency/coalesce.ts';
import type { Catalogue } from '../catalogue.ts';
import { findBundleFolders } from './bundle-folders.ts';
import { createCatalogueLoader, type LoadCatalogueOptions } from './load-catalogue.ts';

/** A catalogue that is updated when its folders change. */
export interface LiveCatalogue {
  /** The catalogue in force. It is a new object after bundles were added, changed or removed. */
  current(): Catalogue;
  /** Loads changed folders now, without the pause for files that are being copied. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

export interface OpenCatalogueOptions extends LoadCatalogueOptions {
  /** Called when a new catalogue takes effect. */
  readonly onChange?: (catalogue: Catalogue, previous: Catalogue) => void;
  /** Milliseconds between checks of the folders. Default: 1,000. */
  readonly lookMs?: number;
}

/** Milliseconds without a change after which files count as complete. Files that still change are being copied or edited. */
const settleMs = 250;
/** Enough for about 2,000 typical plugins. The rest is read while the service runs; see `Catalogue.loading`. */
const maxFirstReadBytes = 2 * 1024 * 1024;
/** The largest share of time that checks of the folders may take, because checking many files takes long. */
const share = 1 / 50;

/**
 * Loads the bundles and checks their folders at intervals. Notifications of the system are not used: they do not work for network
 * folders and for folders that are mounted into a container.
 */
export async function openCatalogue(options: OpenCatalogueOptions): Promise<LiveCatalogue> {
  const { logger, lookMs = 1_000, onChange } = options;
  const loader = createCatalogueLoader({ firstReadBytes: maxFirstReadBytes, ...options });
  let { catalogue, stamp, isComplete } = await loader.load();
  const stopping = new AbortController();
  const { signal } = stopping;

  const { run: load } = coalesce(async () => {
    const previous = catalogue;
    ({ catalogue, stamp, isComplete } = await loader.load());
    onChange?.(catalogue, previous);
  });

  /** Whether the files have changed and the change is complete. */
  async function hasChanged(seen: string): Promise<boolean> {
    if (seen === stamp) return false;
    await pause(settleMs, undefined, { signal });
    return (await findBundleFolders(options.folders)).stamp === seen;
  }

  async function look(): Promise<number> {
    const started = performance.now();
    const seen = (await findBundleFolders(options.folders)).stamp;
    const tookMs = performance.now() - started;
    if (!isComplete || (await hasChanged(seen))) await load();
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
    async refresh() {
      do await load();
      while (!isComplete && !signal.aborted);
    },
    close: async () => {
      stopping.abort();
      await loader.close();
      await watching;
    },
  };
}
