import type { BundleManifest, OauthDeclaration, PluginManifest } from '@quartermaster/plugin-kit';
import { checkSchema } from '../schema/check-schema.ts';
import type { ErrorCollector } from '../schema/error-collector.ts';
import { credentialsHostOf, knownHosts, leavesHosts } from './bundle-hosts.ts';
import { describeHostError } from './check-host.ts';
import { checkInjections, credentialsOf } from './check-injections.ts';
import { checkCredentialPlaces, checkHostTemplates } from './check-places.ts';

/** The parts of a bundle that the requests of its plugins refer to. */
export type RequestBasis = Pick<
  BundleManifest,
  'hosts' | 'credentials_schema' | 'inject' | 'credential_places' | 'piece' | 'oauth'
>;

/** The properties of `credentials_schema`, by name. */
export function credentialProperties(
  manifest: Pick<BundleManifest, 'credentials_schema'>,
): Map<string, Record<string, unknown>> {
  const properties: unknown = Reflect.get(manifest.credentials_schema ?? {}, 'properties');
  if (typeof properties !== 'object' || properties === null) return new Map();
  return new Map(
    Object.entries(properties).filter(([, property]) => typeof property === 'object' && property !== null),
  );
}

/** The names of the credentials that `x-secret` marks. */
export function secretNames(manifest: BundleManifest): Set<string> {
  const marked = [...credentialProperties(manifest)].filter(([, property]) => property['x-secret'] === true);
  return new Set(marked.map(([name]) => name));
}

/**
 * The alternatives of credentials that a plugin needs; undefined when those that the bundle requires are enough. A request with injections
 * of its own is never sent without any of them, unless the plugin says that it needs none.
 */
export function neededCredentials(
  { credentials_schema: schema }: Pick<BundleManifest, 'credentials_schema'>,
  { credentials, request }: Pick<PluginManifest, 'credentials' | 'request'>,
): readonly (readonly string[])[] | undefined {
  const { required, anyOf }: Record<string, unknown> = { ...schema };
  const own = request?.inject ?? [];
  if (credentials !== undefined || own.length === 0 || (required ?? anyOf) !== undefined) return credentials;
  return own.map((one) =>
    credentialsOf(one)
      .slice(0, 1)
      .map(({ name }) => name),
  );
}

/** Checks the schema of the credentials, and that `inject` refers to declared ones. */
export function checkCredentials(manifest: RequestBasis, errors: ErrorCollector): void {
  if (manifest.credentials_schema !== undefined) {
    checkSchema(manifest.credentials_schema, ['credentials_schema'], errors);
  }
  const properties = credentialProperties(manifest);
  for (const [name, property] of properties) {
    const path = ['credentials_schema', 'properties', name];
    if (property.type !== 'string') errors.add(path, 'Must have "type: string", because a credential is a string.');
    if (property['x-secret'] !== undefined && typeof property['x-secret'] !== 'boolean') {
      errors.add([...path, 'x-secret'], 'Must be true or false.');
    }
  }
  const { inject = [] } = manifest;
  checkInjections({ inject, path: ['inject'], known: properties, hosts: knownHosts(manifest) }, errors);
  checkHostTemplates(manifest, properties, errors);
  if (manifest.credential_places !== undefined) checkCredentialPlaces(manifest, manifest.credential_places, errors);
  if (manifest.oauth !== undefined) checkOauth(manifest.oauth, { manifest, properties }, errors);
  const { piece, credential_places: places, credentials_schema: schema } = manifest;
  if (piece !== undefined && schema !== undefined && places === undefined) {
    errors.add(['credential_places'], 'Is required in a bundle with "piece" and credentials.');
  }
  if (!leavesHosts(manifest)) return;
  const to = credentialsHostOf(manifest);
  if (to === undefined && inject.length > 0) {
    errors.add(
      ['hosts', 'credentials_to'],
      'Must name the credential that holds the host to which the other credentials are sent.',
    );
  }
  if (to !== undefined && !properties.has(to)) {
    errors.add(['hosts', 'credentials_to'], `${JSON.stringify(to)} is not in credentials_schema.`);
  }
}

interface OauthPlace {
  readonly manifest: RequestBasis;
  readonly properties: ReadonlyMap<string, unknown>;
}

/** The browser opens the authorization URL, so its host may be any. The service sends the others; the code of a piece need not reach them. */
function checkOauth(oauth: OauthDeclaration, { manifest, properties }: OauthPlace, errors: ErrorCollector): void {
  const urls = { token_url: oauth.token_url, revocation: oauth.revocation?.url, account: oauth.account?.url };
  for (const [member, url] of Object.entries(urls)) {
    const [origin = ''] = /^https:\/\/[^/?]*/.exec(url ?? '') ?? [];
    const isFree = url === undefined || manifest.piece !== undefined;
    const message = isFree ? null : describeHostError(origin, knownHosts(manifest));
    if (message !== null) errors.add(['oauth', member], message);
  }
  if (!properties.has(oauth.credential)) {
    errors.add(['oauth', 'credential'], `${JSON.stringify(oauth.credential)} is not in credentials_schema.`);
  }
}
