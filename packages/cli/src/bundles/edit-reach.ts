import type { BundlePlan, PlacesOfCredential } from '@quartermaster/contract';
import { InvalidArgumentError } from 'commander';

type Place = PlacesOfCredential['places'][number];

export interface ReachOptions {
  readonly addHosts?: readonly string[];
  readonly removeHosts?: readonly string[];
  readonly addCredentialHosts?: readonly string[];
  readonly removeCredentialHosts?: readonly string[];
  readonly addPlaces?: readonly Place[];
  readonly removePlaces?: readonly Place[];
}

/** Parses a place such as `header:x-api-key`. */
export function readPlace(text: string): Place {
  const [, kind, name = ''] = /^(header|query|form|path):(.+)$/.exec(text) ?? [];
  if (kind === undefined)
    throw new InvalidArgumentError('A place has the form header:NAME, query:NAME, form:NAME or path:/PREFIX.');
  if (kind === 'path') return { in: 'path', prefix: name };
  return kind === 'header' ? { in: 'header', name: name.toLowerCase() } : { in: kind as 'query' | 'form', name };
}

export function placeText({ in: kind, name, prefix }: Place): string {
  return `${kind}:${name ?? prefix}`;
}

/** All hosts that the options name. */
export function namedHosts(options: ReachOptions): string[] {
  const { addHosts = [], removeHosts = [], addCredentialHosts = [], removeCredentialHosts = [] } = options;
  return [...addHosts, ...removeHosts, ...addCredentialHosts, ...removeCredentialHosts];
}

/** Returns the lists that the options change. A host that is removed gets no credential, and one that gets it may be called. */
export function editReach(
  plan: BundlePlan,
  options: ReachOptions,
): Partial<Pick<BundlePlan, 'hosts'>> & { credential_places?: PlacesOfCredential } {
  if (Object.keys(options).length === 0) return {};
  const removed = options.removeHosts ?? [];
  const added = [...(options.addHosts ?? []), ...(options.addCredentialHosts ?? [])];
  const hosts = union(plan.hosts, added).filter((host) => !removed.includes(host));
  const { credential_places: before } = plan;
  if (before === null) return { hosts };
  const gone = [...removed, ...(options.removeCredentialHosts ?? [])];
  const gonePlaces = (options.removePlaces ?? []).map(placeText);
  const places = new Map([...before.places, ...(options.addPlaces ?? [])].map((place) => [placeText(place), place]));
  for (const place of gonePlaces) places.delete(place);
  return {
    hosts,
    credential_places: {
      hosts: union(before.hosts, options.addCredentialHosts).filter((host) => !gone.includes(host)),
      places: [...places.values()],
    },
  };
}

function union(one: readonly string[], other: readonly string[] = []): string[] {
  return [...new Set([...one, ...other])];
}
