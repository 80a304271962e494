import type { BundlePlan, PlacesOfCredential } from '@quartermaster/contract';

export type Place = PlacesOfCredential['places'][number];

export const placeKinds = ['header', 'query', 'form', 'path'] as const;

/** The form that commands use, such as `header:x-api-key`. */
export function placeText({ in: kind, name, prefix }: Place): string {
  return `${kind}:${name ?? prefix ?? ''}`;
}

/** Reads that form; undefined for another text. */
export function readPlace(text: string): Place | undefined {
  const at = text.indexOf(':');
  const kind = placeKinds.find((one) => one === text.slice(0, at).trim().toLowerCase());
  const rest = text.slice(at + 1).trim();
  if (kind === undefined || rest === '') return undefined;
  if (kind === 'path') return rest.startsWith('/') ? { in: kind, prefix: rest } : undefined;
  return { in: kind, name: kind === 'header' ? rest.toLowerCase() : rest };
}

/** Reads a host that the API accepts, which is a name only; undefined for a URL or another text. */
export function readHost(text: string): string | undefined {
  const host = text.trim().toLowerCase();
  return /^[^\s/@?#]{1,253}$/.test(host) ? host : undefined;
}

/** What the administrator decides about the hosts and places of a plan. */
export interface Reach {
  readonly hosts: readonly string[];
  readonly credentialHosts: readonly string[];
  readonly places: readonly Place[];
}

export function reachOf({ hosts, credential_places: places }: Pick<BundlePlan, 'hosts' | 'credential_places'>): Reach {
  return { hosts, credentialHosts: places?.hosts ?? [], places: places?.places ?? [] };
}

/** The lists that differ from those of the plan, which the installation sends. */
export function changesOf(plan: Pick<BundlePlan, 'hosts' | 'credential_places'>, reach: Reach) {
  const before = reachOf(plan);
  const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
  const { credentialHosts, places } = reach;
  const arePlacesSame = isSame(before.credentialHosts, credentialHosts) && isSame(before.places, places);
  return {
    ...(isSame(before.hosts, reach.hosts) ? {} : { hosts: [...reach.hosts] }),
    ...(arePlacesSame ? {} : { credential_places: { hosts: [...credentialHosts], places: [...places] } }),
  };
}
