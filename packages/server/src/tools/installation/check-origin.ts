import type { PackageFacts } from '@quartermaster/contract';
import type { InstalledBundles } from '../packaging/installed-bundles.ts';
import { publisherChanged, publisherUnknown, unsigned } from '../packaging/problems.ts';
import { otherPackage } from './problems.ts';
import { type Origin, type SourceDeps, trustOf } from './read-source.ts';

/** What decides whether one bundle may replace another. */
type Identity = Pick<PackageFacts, 'bundle_id' | 'kind' | 'package' | 'publisher'>;

/** Only the same source updates a bundle, because its credential profiles are for it. @throws Problem or PackagingError */
export async function checkOrigin(
  folders: Pick<InstalledBundles, 'find'>,
  before: Identity | undefined,
  now: Identity,
): Promise<void> {
  const { bundle_id: id, kind, package: name, publisher } = now;
  // An earlier version has installed archives without a row.
  const folder = before === undefined ? await folders.find(id) : undefined;
  if (before === undefined && folder === undefined) return;
  const known = before ?? { kind: 'archive', package: id, publisher: folder?.publisher ?? null };
  if (known.kind !== kind || known.package !== name) throw otherPackage(id, known.package, name);
  if (known.publisher !== null && known.publisher !== publisher) throw publisherChanged(id, known.publisher);
}

/**
 * Whether the publisher of an archive is trusted now; null for other kinds.
 * @throws PackagingError for one that is not trusted and was not accepted
 */
export async function checkTrust(
  { publishers }: Pick<SourceDeps, 'publishers'>,
  { bundle_id: id, kind, publisher }: Identity,
  isAccepted: boolean,
): Promise<Origin['trust']> {
  if (kind !== 'archive') return null;
  const trust = await trustOf(publishers, publisher);
  if (trust === 'trusted' || isAccepted) return trust;
  throw publisher === null ? unsigned(id) : publisherUnknown(id, publisher);
}
