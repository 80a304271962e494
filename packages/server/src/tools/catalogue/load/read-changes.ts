import { mapWithConcurrency } from '../../../platform/concurrency/map-with-concurrency.ts';
import type { BundleFailure } from '../catalogue.ts';
import { wholeArchive } from '../schema/error-collector.ts';
import { atOnce, type BundleFolder } from './bundle-folders.ts';
import { createBundleReader } from './bundle-reader.ts';
import type { ManifestCache } from './manifest-cache.ts';
import { type PackedBundle, unpackBundle } from './packed-bundle.ts';
import { type ReadAnswer, type ReadRequest, readPackedBundle } from './read-packed-bundle.ts';

/** The result of reading a folder. Without a bundle, its `bundle.yaml` is invalid. */
export interface Reading {
  readonly bundle: PackedBundle | undefined;
  readonly failures: readonly BundleFailure[];
  readonly isCached: boolean;
  /** Whether the bundle differs from its installed archive, so that no part of it may be used. */
  readonly isRefused?: boolean;
}

/** The readings by the path of the folder. A missing folder has not been read yet. */
export type Readings = ReadonlyMap<string, Reading>;

/** Reads bundles whose files have changed. */
export interface ChangeReader {
  /** Reads cached and small bundles, before the service answers requests. */
  readAtStart(changed: readonly BundleFolder[]): Promise<Readings>;
  /** Reads a few bundles in a thread. Those in `known` come first. */
  readWhileServing(changed: readonly BundleFolder[], known: ReadonlyMap<string, unknown>): Promise<Readings>;
  close(): Promise<void>;
}

export interface ChangeReaderOptions {
  readonly cache?: ManifestCache;
  readonly firstReadBytes?: number;
  /** Returns why the files of a folder must not be used, or null. */
  readonly refusalOf?: (folder: BundleFolder) => Promise<string | null>;
}

/** The number of bundles that are read before a new catalogue with them takes effect. */
const bundlesPerLoad = 4;

export function createChangeReader({
  cache,
  firstReadBytes = Number.POSITIVE_INFINITY,
  refusalOf = async () => null,
}: ChangeReaderOptions): ChangeReader {
  const reader = createBundleReader();

  /** Adds a reading for each folder that must not be used. */
  async function refuse(changed: readonly BundleFolder[], readings: Map<string, Reading>): Promise<void> {
    for (const folder of changed) {
      const message = await refusalOf(folder);
      if (message === null) continue;
      const failure = { file: `${folder.name}/bundle.yaml`, line: null, field: wholeArchive, message };
      readings.set(folder.path, { bundle: undefined, failures: [failure], isCached: false, isRefused: true });
    }
  }

  /** Reads the changed bundles that are cached or small. */
  async function readAtStart(changed: readonly BundleFolder[]): Promise<Map<string, Reading>> {
    const readings = new Map<string, Reading>();
    let remaining = firstReadBytes;
    await refuse(changed, readings);
    for (const folder of changed) {
      if (readings.has(folder.path)) continue;
      const cached = cache?.find(folder);
      if (cached !== undefined) readings.set(folder.path, { bundle: cached, failures: [], isCached: true });
    }
    const unread = changed.filter(({ path, yamlBytes }) => {
      if (readings.has(path) || yamlBytes > remaining) return false;
      remaining -= yamlBytes;
      return true;
    });
    await mapWithConcurrency(unread, atOnce, async (folder) => {
      readings.set(folder.path, await read(folder, readPackedBundle));
    });
    return readings;
  }

  /** Reads a few bundles in the thread: changed ones first, then those that the start left. */
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
    // Bundles with errors are not cached, so that each start reports the errors with their lines.
    if (packed !== undefined && failures.length === 0) await cache?.store(folder, packed);
    return { bundle: packed === undefined ? undefined : unpackBundle(packed, key), failures, isCached: false };
  }

  return { readAtStart, readWhileServing, close: () => reader.close() };
}
