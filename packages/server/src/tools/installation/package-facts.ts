import { isDeepStrictEqual } from 'node:util';
import type { PackageFacts, PackageUpdate, PlacesOfCredential } from '@quartermaster/contract';
import { parse, stringify } from 'yaml';
import type { CompiledBundle } from '../catalogue/catalogue.ts';
import { type OpenedArchive, openArchive, writeArchive } from '../packaging/archive.ts';
import { listFile, writeContents } from '../packaging/contents.ts';
import { type PiecePackage, pieceLimits } from './piece-package.ts';

type Files = ReadonlyMap<string, Buffer>;

/** Creates the archive of a bundle's files. The same files give the same digest. */
export async function archiveOf(files: Files): Promise<{ readonly bytes: Buffer; readonly archive: OpenedArchive }> {
  const { id: bundleId, version } = parse(files.get(manifestName)?.toString() ?? '');
  const listed = [...files].map(([path, content]) => listFile(path, content));
  const bytes = writeArchive({
    contentsBytes: writeContents({ bundleId, version, files: listed }),
    signature: null,
    files,
  });
  return { bytes, archive: await openArchive(bytes) };
}

const manifestName = 'bundle.yaml';

/** Replaces the lists of the manifest that the operator has edited. */
export function withReach(files: Files, reach: { hosts?: string[]; credential_places?: PlacesOfCredential }): Files {
  const manifest = { ...parse(files.get(manifestName)?.toString() ?? ''), ...reach };
  return new Map([...files, [manifestName, Buffer.from(stringify(manifest))]]);
}

/** Adds what administrators have added before to the lists of another version. */
export function withAdded(files: Files, added: PackageFacts['added']): Files {
  const { hosts, credential_places: own } = parse(files.get(manifestName)?.toString() ?? '');
  const union = <Item>(one: Item[], other: readonly Item[]) => [...one, ...other.filter((item) => !isIn(one, item))];
  if (own === undefined) return withReach(files, { hosts: union(hosts, added.hosts) });
  const credential_places = {
    hosts: union(own.hosts, added.credential_hosts),
    places: union(own.places, added.places),
  };
  return withReach(files, { hosts: union(hosts, added.hosts), credential_places });
}

/** What administrators have added, after they have edited the lists of a plan. */
export function addedTo(plan: PackageFacts, { hosts, credential_places: own }: PackageFacts): PackageFacts['added'] {
  const { hosts: credentialHosts = [], places = [] } = plan.credential_places ?? {};
  const isAdded = (added: readonly unknown[], planned: readonly unknown[]) => (item: unknown) =>
    isIn(added, item) || !isIn(planned, item);
  return {
    hosts: hosts.filter(isAdded(plan.added.hosts, plan.hosts)),
    credential_hosts: (own?.hosts ?? []).filter(isAdded(plan.added.credential_hosts, credentialHosts)),
    places: (own?.places ?? []).filter(isAdded(plan.added.places, places)),
  };
}

export const nothingAdded: PackageFacts['added'] = { hosts: [], credential_hosts: [], places: [] };

const isIn = (items: readonly unknown[], item: unknown) => items.some((each) => isDeepStrictEqual(each, item));

/** What an administrator decides about, read from the bundle as the catalogue has loaded it. */
export function factsOf(
  bundle: CompiledBundle,
  {
    package: read,
    warnings,
    digest,
    added,
  }: Pick<PackageFacts, 'warnings' | 'digest' | 'added'> & { package: PiecePackage },
): PackageFacts {
  const { manifest, credentialNames, secretNames, plugins } = bundle;
  const large = `Its code has ${read.file.length} bytes, so the first run of an action takes longer and needs more memory.`;
  return {
    bundle_id: bundle.id,
    package: read.name,
    version: read.version,
    integrity: read.integrity,
    packed_from: read.packedFrom,
    licence: read.licence ?? 'none stated',
    bytes: read.file.length,
    actions: [...plugins.values()].map(({ id, manifest: { name, effects } }) => {
      return { plugin_id: id, name: typeof name === 'string' ? name : name.en, effects };
    }),
    credentials: [...credentialNames].map((name) => ({ name, secret: secretNames.has(name) })),
    hosts: [...bundle.hosts],
    credential_places: manifest.credential_places ?? null,
    added,
    warnings: [...warnings, ...(read.file.length > pieceLimits.warnBytes ? [large] : [])],
    digest,
  };
}

export function compareFacts(before: PackageFacts, now: PackageFacts): PackageUpdate {
  return { from_version: before.version, added: onlyIn(now, before), removed: onlyIn(before, now) };
}

function onlyIn(one: PackageFacts, other: PackageFacts): PackageUpdate['added'] {
  const without = <Item>(items: readonly Item[] = [], others: readonly Item[] = []) =>
    items.filter((item) => !isIn(others, item));
  return {
    actions: without(one.actions, other.actions),
    credentials: without(one.credentials, other.credentials),
    hosts: without(one.hosts, other.hosts),
    credential_hosts: without(one.credential_places?.hosts, other.credential_places?.hosts),
    places: without(one.credential_places?.places, other.credential_places?.places),
  };
}
