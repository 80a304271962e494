import type { PackageFacts } from '@quartermaster/contract';
import type { Clock } from '../../platform/clock.ts';
import type { StoredArchive } from '../../stores/files/file-repository.ts';
import type { ArchiveRepository } from './archive-repository.ts';
import { noEdits } from './package-facts.ts';

/** A stored plan or an installed bundle, with its facts. */
export interface InstallationRow extends StoredArchive {
  readonly about: PackageFacts;
  /** Of the archive, which also has the logo. */
  readonly archiveDigest: string;
  /** Of a plan; empty without a logo. It is fetched at the installation. */
  readonly logoUrl: string;
  /** Of a plan: the id of the archive that was installed when it was made; null without one. */
  readonly basis: string | null;
}

export type RowFacts = Pick<InstallationRow, 'about' | 'archiveDigest' | 'logoUrl' | 'basis'>;

/** Reads all rows. Of several archives of a bundle, the last one is installed. */
export async function readRows({
  store,
  clock,
}: {
  readonly store: Pick<ArchiveRepository, 'list'>;
  readonly clock: Clock;
}) {
  const all = await store.list();
  const rows: InstallationRow[] = all.map((row) => ({ ...row, ...readFacts(row.facts) }));
  const plans = rows.filter(({ expiresAt }) => expiresAt !== null && expiresAt > clock.now());
  const installed = new Map(rows.filter((row) => row.expiresAt === null).map((row) => [row.bundleId, row]));
  return { all, plans, installed };
}

export function factsText({ about, archiveDigest, logoUrl, basis }: RowFacts): string {
  return JSON.stringify({ ...about, archive_digest: archiveDigest, logo_url: logoUrl, basis });
}

/** Reads what this module has written. Earlier versions wrote fewer members. */
function readFacts(text: string): RowFacts {
  const { archive_digest: archiveDigest, logo_url: logoUrl = '', basis = null, ...about } = JSON.parse(text);
  return {
    about: { ...noEdits, kind: 'piece', source: null, publisher: null, trust: null, ...about },
    archiveDigest: archiveDigest ?? about.digest,
    logoUrl,
    basis,
  };
}
