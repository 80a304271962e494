import type { Clock } from '../../platform/clock.ts';
import { coalesce } from '../../platform/concurrency/coalesce.ts';
import { mapWithConcurrency } from '../../platform/concurrency/map-with-concurrency.ts';
import type { Logger } from '../../platform/log/logger.ts';
import { StoredContentDamaged } from '../../stores/files/file-access.ts';
import type { CompiledBundle } from '../catalogue/catalogue.ts';
import type { InstalledBundles } from '../packaging/installed-bundles.ts';
import { archiveRefused } from '../packaging/problems.ts';
import type { ArchiveStore } from './archive-store.ts';
import { factsText, type InstallationRow, readRows } from './installation-rows.ts';
import { factsOf, noEdits } from './package-facts.ts';
import { readArchive, type SourceDeps } from './read-source.ts';

export interface FolderSyncDeps {
  readonly store: ArchiveStore;
  readonly folders: InstalledBundles;
  readonly publishers: SourceDeps['publishers'];
  /** Loads a bundle as the catalogue does. @throws PackagingError for errors, and for an id that another bundle has */
  readonly load: (folder: string) => Promise<CompiledBundle>;
  /** Makes the catalogue read the folder. Default: nothing reads it. */
  readonly onChange?: () => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface FolderSync {
  /**
   * Makes the folder of this node equal to the rows. Without changes of the rows it is one statement.
   * @param compares whether the files of each bundle are compared with its archive, too. The first call does
   */
  follow(compares?: boolean): Promise<void>;
  /**
   * Installed bundles that this node cannot serve: null while an archive is read, otherwise the reason.
   * @param present the bundles that were found. Another installed one has lost its folder, which is restored
   */
  missing(present?: ReadonlySet<string>): ReadonlyMap<string, string | null>;
  close(): Promise<void>;
}

/** A version that was replaced is not served for longer than this while its successor is read. */
const withdrawMs = 500;
const retryMs = 5_000;
const atOnce = 4;

/** The rows decide which bundles are installed. The folder of a node is a cache of their archives. */
export function createFolderSync(deps: FolderSyncDeps): FolderSync {
  const { store, folders, logger, onChange = async () => {} } = deps;
  const missing = new Map<string, string | null>();
  let comparesNext = true;
  /** The rows that the folder is equal to. */
  let followed: string | undefined;
  /** The bundles whose folders were made equal to the rows. */
  let served: ReadonlySet<string> = new Set();
  let retry: NodeJS.Timeout | undefined;

  async function follow(): Promise<void> {
    clearTimeout(retry);
    const ids = (await store.installedIds()).join();
    const compares = comparesNext;
    if (ids === followed && !compares) return;
    [followed, comparesNext] = [undefined, false];
    const own = await adoptFolders(deps);
    const { installed } = await readRows(deps);
    served = new Set();
    const changes = await mapWithConcurrency([...installed.values()], atOnce, (row) => restore(row, compares));
    for (const name of await folders.names()) {
      if (installed.has(name) || own.has(name)) continue;
      await folders.remove(name);
      logger.info({ bundle_id: name }, 'bundle removed');
      changes.push(true);
    }
    for (const name of missing.keys()) if (!installed.has(name)) changes.push(missing.delete(name));
    served = new Set([...installed.keys()].filter((name) => !missing.has(name)));
    if (changes.includes(true)) await onChange();
    if (missing.size === 0) followed = ids;
    else retry = setTimeout(followLogged, retryMs);
    retry?.unref();
  }
  const { run, idle } = coalesce(follow);
  const followLogged = () => void run().catch((err: unknown) => logger.error({ err }, 'bundles not followed'));

  /** @returns whether the catalogue must be read again */
  async function restore(row: InstallationRow, compares: boolean): Promise<boolean> {
    const { bundleId } = row;
    const found = await folders.find(bundleId).catch(() => undefined);
    const isCurrent = found?.id.endsWith(row.archiveDigest) === true;
    if (isCurrent && (!compares || (await isUnchanged(bundleId)))) return missing.delete(bundleId);
    const before = missing.get(bundleId);
    if (found === undefined && before === undefined) missing.set(bundleId, null);
    let withdrawal: Promise<void> | undefined;
    const timer = setTimeout(() => {
      withdrawal = withdraw(bundleId).catch(() => undefined);
    }, withdrawMs);
    try {
      const archive = await store.read(row).finally(() => clearTimeout(timer));
      await withdrawal;
      if (archive.digest !== row.archiveDigest) throw archiveRefused('it is not the archive that was confirmed');
      await folders.put(archive, async () => {});
      missing.delete(bundleId);
      logger.info({ bundle_id: bundleId, version: archive.contents.version }, 'bundle restored from its archive');
      return true;
    } catch (error) {
      await withdrawal;
      await folders.remove(bundleId).catch(() => undefined);
      const reason = reasonOf(error);
      missing.set(bundleId, reason);
      return before !== reason;
    }
  }

  async function isUnchanged(bundleId: string): Promise<boolean> {
    const changed = await folders.changedFiles(bundleId).catch(() => ['(unreadable)']);
    return changed.length === 0;
  }

  /** No run may use the replaced version: requests for the bundle are to be retried. */
  async function withdraw(bundleId: string): Promise<void> {
    missing.set(bundleId, null);
    await folders.remove(bundleId).catch(() => undefined);
    await onChange();
  }

  return {
    follow: (compares = false) => {
      comparesNext ||= compares;
      return run();
    },
    missing: (present = served) => {
      const lost = [...served].filter((name) => !present.has(name));
      for (const name of lost) missing.set(name, null);
      if (lost.length > 0) {
        logger.warn({ bundle_ids: lost }, 'folders of installed bundles lost');
        served = new Set();
        comparesNext = true;
        followLogged();
      }
      return missing;
    },
    close: async () => {
      await idle();
      clearTimeout(retry);
    },
  };
}

function reasonOf(error: unknown): string {
  const reason =
    error instanceof StoredContentDamaged
      ? 'its archive is missing or damaged in the store; remove it and install it again'
      : `its archive cannot be read: ${error instanceof Error ? error.message.replace(/\.$/, '') : String(error)}`;
  return `The installed bundle is not offered on this node, because ${reason}. The node tries again every 5 seconds.`;
}

/**
 * Adds a row for each bundle that an earlier version has installed in the folder only. It happens once for a folder.
 * @returns the bundles that cannot have a row, because they are damaged. They stay
 */
async function adoptFolders(deps: FolderSyncDeps): Promise<ReadonlySet<string>> {
  const { store, folders, load, logger } = deps;
  const own = new Set<string>();
  if (await folders.hasRows()) return own;
  const { installed } = await readRows(deps);
  for (const bundleId of await folders.names()) {
    if (installed.has(bundleId)) continue;
    try {
      const { origin, packed } = await readArchive(deps, await folders.pack(bundleId), undefined);
      const { archive, bytes } = packed;
      const bundle = await folders.check(archive, load);
      const about = factsOf(bundle, { origin, warnings: [], digest: archive.digest, ...noEdits });
      const facts = factsText({ about, archiveDigest: archive.digest, logoUrl: '', basis: null });
      await store.add(bytes, { bundleId, facts, expiresAt: null });
      logger.info({ bundle_id: bundleId }, 'bundle of the data folder added to the store');
    } catch (err) {
      own.add(bundleId);
      logger.error({ err, bundle_id: bundleId }, 'bundle of the data folder not added to the store');
    }
  }
  if (own.size === 0) await folders.markRows();
  return own;
}
