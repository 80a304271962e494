import { connectionMember, profileMember } from '@quartermaster/contract';
import { isJsonObject } from '../../platform/json/json-object.ts';
import type { CompiledBundle } from '../catalogue/catalogue.ts';
import { checkCredentialBounds } from '../catalogue/credential-bounds.ts';
import { readCredentialsHeaders } from '../execution/credentials-header.ts';
import { metaKeys } from './meta-keys.ts';
import { credentialsMetaInvalid } from './problems.ts';

type Named = Readonly<Record<string, unknown>>;

/** Returns a header by its lower-case name; undefined when it was not sent. */
export type ReadHeader = (name: string) => string | undefined;

/** The sources of a call's credentials. */
export interface CredentialSources {
  readonly headerOf: ReadHeader;
  readonly meta: Named | undefined;
}

/**
 * Collects the credentials that a bundle declares. They never come from the arguments, which models write and hosts log. Later
 * sources override earlier ones: `X-Credential-<NAME>` headers, then `X-Plugin-Credentials` for all (or `X-Plugin-Profile` with the
 * name of a profile), then `_meta["quartermaster/credentials"]`. Undeclared names are dropped, because they may belong to another
 * bundle. The bounds of each source count them nevertheless; members under the id of the bundle are counted separately.
 * @throws Problem when a source is malformed or exceeds a bound
 */
export function readCredentials(
  bundle: CompiledBundle,
  { headerOf, meta }: CredentialSources,
): Record<string, unknown> {
  const objects = [readCredentialsHeaders(headerOf), fromMeta(meta)];
  for (const source of objects) checkSent(bundle.id, source);
  return pickCredentials(bundle, headerOf, objects);
}

/** Picks the credentials of one bundle from single headers and from objects that were read and checked before. */
export function pickCredentials(
  bundle: CompiledBundle,
  headerOf: ReadHeader,
  objects: readonly Named[],
): Record<string, unknown> {
  const names = Object.keys(membersOf(Reflect.get(bundle.manifest.credentials_schema ?? {}, 'properties')));
  if (names.length === 0) return {};
  const sources = [fromSingleHeaders(names, headerOf), ...objects];
  const layers = sources.flatMap((source) => [source, membersOf(source[bundle.id])]);
  return Object.fromEntries(
    [...names, profileMember, connectionMember].flatMap((name) => {
      const layer = layers.findLast((one) => Object.hasOwn(one, name));
      return layer === undefined ? [] : [[name, layer[name]]];
    }),
  );
}

/** Names the credentials of a bundle: those of each alternative, such as "token, or username and password", or all of them. */
export function nameCredentials({ manifest, credentialNames }: CompiledBundle): string {
  const schema: Named = manifest.credentials_schema ?? {};
  const requiredIn = (one: unknown) => membersOf(one).required;
  const alternatives = (Array.isArray(schema.anyOf) ? schema.anyOf : []).map(requiredIn).filter(Array.isArray);
  if (alternatives.length === 0) return [...credentialNames].join(', ');
  return alternatives.map((names) => [schema.required ?? [], names].flat().join(' and ')).join(', or ');
}

function checkSent(bundleId: string, source: Named): void {
  const own = Object.hasOwn(source, bundleId) ? source[bundleId] : undefined;
  checkCredentialBounds(source, isJsonObject(own) ? bundleId : undefined);
  checkCredentialBounds(membersOf(own));
}

/** Reads one header per credential. Proxies drop headers with `_`, so `X-Credential-API-KEY` also sets `API_KEY`. */
function fromSingleHeaders(names: readonly string[], headerOf: ReadHeader): Named {
  const found = names.map((name) => {
    const header = `x-credential-${name.toLowerCase()}`;
    return [name, headerOf(header) ?? headerOf(header.replaceAll('_', '-'))] as const;
  });
  return Object.fromEntries(found.filter(([, value]) => value !== undefined));
}

function fromMeta(meta: Named | undefined): Named {
  const value = meta?.[metaKeys.credentials];
  if (value === undefined) return {};
  if (!isJsonObject(value)) throw credentialsMetaInvalid();
  return value;
}

function membersOf(value: unknown): Named {
  return isJsonObject(value) ? value : {};
}
