import { isDeepStrictEqual } from 'node:util';
import type { PackageFacts, PackageUpdate, PlacesOfCredential } from '@quartermaster/contract';
import { parse } from 'yaml';
import type { CompiledBundle } from '../catalogue/catalogue.ts';
import type { Contents } from '../packaging/contents.ts';
import { yamlOf } from '../pieces/piece-bundle.ts';
import type { Logo } from './fetch-logo.ts';
import { manifestName } from './pack-files.ts';
import type { Origin } from './read-source.ts';

type Files = ReadonlyMap<string, Buffer>;

/** Replaces the lists of the manifest that the operator has edited. */
export function withReach(
  files: Files,
  reach: { hosts?: string[]; credential_places?: PlacesOfCredential; icon?: string },
): Files {
  return new Map([...files, [manifestName, yamlOf({ ...parse(files.get(manifestName)?.toString() ?? ''), ...reach })]]);
}

/** Repeats what administrators have added and removed before in the lists of another version. */
export function withEdits(files: Files, { added, removed }: Edits): Files {
  if (isDeepStrictEqual([added, removed], [noLists, noLists])) return files;
  const { hosts, credential_places: own } = parse(files.get(manifestName)?.toString() ?? '');
  const edited = <Name extends keyof Lists>(name: Name, items: Lists[Name]): Lists[Name] => {
    const more = added[name].filter((item) => !isIn(items, item));
    return [...items, ...more].filter((item) => !isIn(removed[name], item)) as Lists[Name];
  };
  if (own === undefined) return withReach(files, { hosts: edited('hosts', hosts) });
  const credential_places = {
    hosts: edited('credential_hosts', own.hosts),
    places: edited('places', own.places),
  };
  return withReach(files, { hosts: edited('hosts', hosts), credential_places });
}

/** What administrators have added and removed, after they have edited the lists of a plan. */
export function editsOf(plan: PackageFacts, edited: PackageFacts): Edits {
  const [planned, now] = [listsOf(plan), listsOf(edited)];
  const added = <Name extends keyof Lists>(name: Name) =>
    now[name].filter((item) => isIn(plan.added[name], item) || !isIn(planned[name], item)) as Lists[Name];
  const removed = <Name extends keyof Lists>(name: Name) =>
    [...plan.removed[name], ...planned[name]].filter((item) => !isIn(now[name], item)) as Lists[Name];
  const each = (edit: typeof added) => {
    return { hosts: edit('hosts'), credential_hosts: edit('credential_hosts'), places: edit('places') };
  };
  return { added: each(added), removed: each(removed) };
}

type Lists = PackageFacts['added'];
type Edits = Pick<PackageFacts, 'added' | 'removed'>;

const noLists: Lists = { hosts: [], credential_hosts: [], places: [] };
export const noEdits: Edits = { added: noLists, removed: noLists };

function listsOf({ hosts, credential_places: own }: PackageFacts): Lists {
  return { hosts, credential_hosts: own?.hosts ?? [], places: own?.places ?? [] };
}

/** Adds the logo to the manifest and the files. */
export function withLogo(files: Files, { content, extension }: Logo): Files {
  const name = `logo.${extension}`;
  return new Map([...withReach(files, { icon: name }), [name, content]]);
}

export function withoutLogo(files: Files): Files {
  const { icon, ...manifest } = parse(files.get(manifestName)?.toString() ?? '');
  if (icon === undefined) return files;
  const rest = [...files].filter(([name]) => name !== icon);
  return new Map([...rest, [manifestName, yamlOf(manifest)]]);
}

const isIn = (items: readonly unknown[], item: unknown) => items.some((each) => isDeepStrictEqual(each, item));

/** What an administrator decides about, read from the bundle as the catalogue has loaded it. */
export function factsOf(
  bundle: CompiledBundle,
  {
    origin,
    warnings,
    digest,
    ...edits
  }: Pick<PackageFacts, 'warnings' | 'digest' | keyof Edits> & { readonly origin: Origin },
): PackageFacts {
  const { manifest, credentialNames, secretNames, plugins } = bundle;
  return {
    bundle_id: bundle.id,
    ...origin,
    actions: [...plugins.values()].map(({ id, manifest: { name, effects } }) => {
      return { plugin_id: id, name: typeof name === 'string' ? name : name.en, effects };
    }),
    credentials: [...credentialNames].map((name) => ({ name, secret: secretNames.has(name) })),
    hosts: [...bundle.hosts],
    credential_places: manifest.credential_places ?? null,
    ...edits,
    warnings: [...warnings, ...describeOauth(manifest)],
    digest,
  };
}

/** Names the actions whose definitions differ from those of the installed version, because a third party may change them. */
export function changedActions(before: Contents, now: Contents): string[] {
  const known = new Map(before.files.map(({ path, sha256 }) => [path, sha256]));
  const changed = now.files
    .filter(({ path, sha256 }) => path !== manifestName && (known.get(path) ?? sha256) !== sha256)
    .flatMap(({ path }) => (path.endsWith('.yaml') ? [path.slice(0, -5)] : []));
  const names = `${changed.slice(0, 20).join(', ')}${changed.length > 20 ? ', …' : ''}`;
  return changed.length === 0 ? [] : [`These actions differ from those of the installed version: ${names}.`];
}

/** Says where secrets go that the lists of hosts do not name. */
function describeOauth({ oauth }: CompiledBundle['manifest']): string[] {
  if (oauth === undefined) return [];
  const [page, endpoint] = [new URL(oauth.authorization_url).host, new URL(oauth.token_url).host];
  return [
    `End users can connect at ${page}. The service sends the secret of your OAuth client and their codes to ${endpoint}.`,
  ];
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
