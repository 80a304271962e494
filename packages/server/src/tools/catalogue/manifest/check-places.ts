import type { BundleManifest, CredentialPlaces } from '@quartermaster/plugin-kit';
import type { ErrorCollector } from '../schema/error-collector.ts';
import { declaredHosts, leavesHosts } from './bundle-hosts.ts';

type Basis = Pick<BundleManifest, 'hosts' | 'inject'>;
type Properties = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

export const needsHandler = 'Must have a "handler", because only handlers get placeholders ("credential_places").';

/** Checks `credential_places`: what it names exists in the bundle, and each place stands once. */
export function checkCredentialPlaces(
  manifest: Basis,
  { hosts, places }: CredentialPlaces,
  errors: ErrorCollector,
): void {
  const path = ['credential_places'];
  const known = declaredHosts(manifest);
  if (manifest.inject !== undefined) errors.add(path, 'Must not be set beside "inject"; a bundle has one of the two.');
  if (leavesHosts(manifest)) errors.add(path, 'Needs "hosts" to be a list of names.');
  for (const [index, host] of hosts.entries()) {
    if (!known.includes(host))
      errors.add([...path, 'hosts', String(index)], `${host} is not one of the bundle's "hosts".`);
  }
  const texts = places.map((place) => JSON.stringify(place));
  const twice = texts.findIndex((text, index) => texts.indexOf(text) !== index);
  if (twice >= 0) errors.add([...path, 'places', String(twice)], 'Is listed twice.');
}

/** Checks hosts with `{credential}`: it is no secret, and the other labels are those of one domain, unless it is the whole host. */
export function checkHostTemplates(
  manifest: Basis & Pick<BundleManifest, 'credential_places'>,
  properties: Properties,
  errors: ErrorCollector,
): void {
  for (const [index, host] of declaredHosts(manifest).entries()) {
    const names = credentialsOfHost(host);
    if (names.length === 0) continue;
    const report = (message: string) => errors.add(['hosts', String(index)], message);
    if (manifest.credential_places === undefined) report('A host with {credential} needs "credential_places".');
    for (const name of names) {
      const property = properties.get(name);
      if (property === undefined) report(`{${name}} is not in credentials_schema.`);
      else if (property['x-secret'] === true) report(`{${name}} is a secret, and a host cannot hold one.`);
    }
    if (!isWholeTemplate(host) && !hasFixedDomain(host))
      report('Must end with a fixed domain, such as {name}.example.com, or be only {name}.');
  }
}

/** Whether the last two labels hold no credential. */
export function hasFixedDomain(host: string): boolean {
  return /\.[a-z0-9-]+\.[a-z0-9-]+(?::\d+)?$/.test(host);
}

/** The names of the credentials that a host names. */
export function credentialsOfHost(host: string): string[] {
  return [...host.matchAll(/\{([A-Za-z0-9_]+)\}/g)].map(([, name = '']) => name);
}

/** Whether one credential is the whole host. */
export function isWholeTemplate(host: string): boolean {
  return /^\{[A-Za-z0-9_]+\}$/.test(host);
}
