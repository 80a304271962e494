import type { Secret } from '../../platform/secret.ts';
import type { CompiledBundle } from '../catalogue/catalogue.ts';
import { credentialsOfHost, isWholeTemplate } from '../catalogue/manifest/check-places.ts';
import { valueInvalid } from '../catalogue/problems.ts';
import type { PlaceholderPolicy } from '../egress/placeholders/placeholder-policy.ts';
import { createPlaceholder, createPlaceholderFinder } from '../egress/placeholders/placeholders.ts';

type Credentials = ReadonlyMap<string, Secret>;

/** The credentials of a run whose handler gets placeholders (`credential_places`). */
export interface LentCredentials {
  /** As the handler gets them: secrets as placeholders, the others in clear. */
  readonly handlerCredentials: Readonly<Record<string, string>>;
  /** The hosts of the bundle with the names that the credentials give. */
  readonly hosts: ReadonlySet<string>;
  readonly placeholders: PlaceholderPolicy;
  /** Whether a secret has been sent. */
  readonly isUsed: () => boolean;
}

/** Whether `x-secret` marks a credential. When it marks none, all are secrets. */
export function isSecret({ secretNames }: Pick<CompiledBundle, 'secretNames'>, name: string): boolean {
  return secretNames.size === 0 || secretNames.has(name);
}

/** Undefined when the bundle takes no placeholders. Throws a Problem (422) for a credential that cannot be a part of a host. */
export function lendCredentials(bundle: CompiledBundle, credentials: Credentials): LentCredentials | undefined {
  const declared = bundle.manifest.credential_places;
  if (declared === undefined) return undefined;
  const secrets = new Map<string, Secret>();
  const handlerCredentials: Record<string, string> = {};
  for (const [name, value] of credentials) {
    const given = isSecret(bundle, name) ? createPlaceholder() : value.reveal();
    handlerCredentials[name] = given;
    if (isSecret(bundle, name)) secrets.set(given, value);
  }
  let isUsed = false;
  const inForce = (hosts: readonly string[]) => new Set(hosts.flatMap((host) => fillHost(host, credentials)));
  const placeholders: PlaceholderPolicy = {
    bundleId: bundle.id,
    secrets,
    finder: createPlaceholderFinder(secrets.keys()),
    hosts: inForce(declared.hosts),
    places: declared.places,
    onPlaced() {
      isUsed = true;
    },
  };
  return { handlerCredentials, hosts: inForce(bundle.hosts), placeholders, isUsed: () => isUsed };
}

/** No host when one of the credentials is missing. */
function fillHost(template: string, credentials: Credentials): string[] {
  let filled = template;
  for (const name of credentialsOfHost(template)) {
    const value = credentials.get(name)?.reveal();
    if (value === undefined) return [];
    const part = isWholeTemplate(template) ? hostOf(value) : labelOf(value);
    if (part === null) {
      const expected = isWholeTemplate(template)
        ? 'a host or an https:// URL without a user name'
        : `one label of letters, digits and hyphens, for ${template}`;
      throw valueInvalid('credentials', [
        { path: `/${name}`, found: 'a value that cannot be a part of a host', expected },
      ]);
    }
    filled = filled.replaceAll(`{${name}}`, part);
  }
  return [filled];
}

function labelOf(value: string): string | null {
  return /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i.test(value) ? value.toLowerCase() : null;
}

/** The host, with its port unless that is the default one. */
function hostOf(value: string): string | null {
  const url = URL.parse(value.includes('://') ? value : `https://${value}`);
  return url?.protocol === 'https:' && url.username === '' && url.password === '' ? url.host : null;
}
