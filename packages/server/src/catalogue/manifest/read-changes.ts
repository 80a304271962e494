import { mapWithConcurrency } from '../../kernel/concurrency/map-with-concurrency.ts';
import type { BundleFailure } from '../catalogue.ts';
import { atOnce, type BundleFolder } from '../load/bundle-folders.ts';
import { createBundleReader } from '../load/bundle-reader.ts';
import { type PackedBundle, unpackBundle } from '../load/packed-bundle.ts';
import { type ReadAnswer, type ReadRequest, readPackedBundle } from '../load/read-packed-bundle.ts';
import { wholeArchive } from './findings.ts';
import type { ManifestCache } from './manifest-cache.ts';

/** The result of reading a folder; without a bundle, its `bundle.yaml` is invalid. */
export interface Reading {
  readonly bundle: PackedBundle | undefined;
  readonly failures: readonly BundleFailure[];
  readonly isCached: boolean;
  /** The bundle is not what was installed: nothing of it may be in force. */
  readonly isRefused?: boolean;
}

/** By the path of the folder; a folder that is missing was not read yet. */
export type Readings = ReadonlyMap<string, Reading>;

/** Reads bundles whose files have changed. */
export interface ChangeReader {
  /** Reads cached and small bundles, before the service answers requests. */
  readAtStart(changed: readonly BundleFolder[]): Promise<Readings>;
  /** A few, in a thread: those that are in `known` first. */
  readWhileServing(changed: readonly BundleFolder[], known: ReadonlyMap<string, unknown>): Promise<Readings>;
  close(): Promise<void>;
}

export interface ChangeReaderOptions {
  readonly cache?: ManifestCache;
  readonly firstReadBytes?: number;
  /** Why the files of a folder may not be used at all; null when they may. */
  readonly refusalOf?: (folder: BundleFolder) => Promise<string | null>;
}

/** Number of bundles that are read before the catalogue with them takes effect, while the service runs. */
const bundlesPerLoad = 4;

export function createChangeReader({
  cache,
  firstReadBytes = Number.POSITIVE_INFINITY,
  refusalOf = async () => null,
}: ChangeReaderOptions): ChangeReader {
  const reader = createBundleReader();

  /** Adds a reading for each folder that may not be used. */
  async function refuse(changed: readonly BundleFolder[], readings: Map<string, Reading>): Promise<void> {
    for (const folder of changed) {
      const message = await refusalOf(folder);
      if (message === null) continue;
      const failure = { file: `${folder.name}/bundle.yaml`, line: null, field: wholeArchive, message };
      readings.set(folder.path, { bundle: undefined, failures: [failure], isCached: false, isRefused: true });
    }
  }

  /** The changed bundles that can be read before the service answers requests. */
  async function readAtStart(changed: readonly BundleFolder[]): Promise<Map<string, Reading>> {
    const readings = new Map<string, Reading>();
    let left = firstReadBytes;
    await refuse(changed, readings);
    for (const folder of changed) {
      if (readings.has(folder.path)) continue;
      const cached = cache?.find(folder);
      if (cached !== undefined) readings.set(folder.path, { bundle: cached, failures: [], isCached: true });
    }
    const unread = changed.filter(({ path, yamlBytes }) => {
      if (readings.has(path) || yamlBytes > left) return false;
      left -= yamlBytes;
      return true;
    });
    await mapWithConcurrency(unread, atOnce, async (folder) => {
      readings.set(folder.path, await read(folder, readPackedBundle));
    });
    return readings;
  }

  /** One bundle after the other, in the thread: what changed first, then what the start left. */
  async function readWhileServing(
    changed: readonly BundleFolder[],
    known: ReadonlyMap<string, unknown>,
  ): Promise<Map<string, Reading>> {
    const readings = new Map<string, Reading>();
    const inForceFirst = changed.toSorted((a, b) => Number(known.has(b.path)) - Number(known.has(a.path)));
    const next = inForceFirst.slice(0, bundlesPerLoad);
    await refuse(next, readings);
    for (const folder of next.filter(({ path }) => !readings.has(path))) {
      readings.set(folder.path, await read(folder, (request) => reader.read(request)));
    }
    if (changed.length <= bundlesPerLoad) await reader.rest();
    return readings;
  }

  async function read(folder: BundleFolder, ask: (request: ReadRequest) => Promise<ReadAnswer>): Promise<Reading> {
    const key = cache?.keyOf(folder) ?? folder.stamp;
    const { packed, failures } = await ask({ name: folder.name, path: folder.path, key });
    // Bundles with errors are not cached, so each start reports the error with its line.
    if (packed !== undefined && failures.length === 0) await cache?.store(folder, packed);
    return { bundle: packed === undefined ? undefined : unpackBundle(packed, key), failures, isCached: false };
  }

  return { readAtStart, readWhileServing, close: () => reader.close() };
}
