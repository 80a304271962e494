import type { StoredArchive } from '../../stores/files/file-repository.ts';

/** The archives of bundles from packages: plans, and installed bundles. `FileRepository` adds and deletes them. */
export interface ArchiveRepository {
  /** By id, so by time. */
  list(): Promise<readonly StoredArchive[]>;
  /** The ids of the archives of installed bundles, in the same order. They change with each installation and removal. */
  installedIds(): Promise<readonly string[]>;
}
