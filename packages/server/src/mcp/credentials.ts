import type { CompiledBundle } from '../catalogue/catalogue.ts';
import { metaKeys } from './meta-keys.ts';
import { credentialsHeaderInvalid, credentialsMetaInvalid } from './problems.ts';

type Named = Readonly<Record<string, unknown>>;

export interface CredentialSources {
  readonly headers: Headers;
  readonly meta: Named | undefined;
}

/**
 * The credentials a bundle declares, from what came with the call; never from the arguments, which models write and
 * hosts log. The later of these wins: a header `X-Credential-<NAME>` each, the header `X-Plugin-Credentials` for all,
 * `_meta["quartermaster/credentials"]` for one call. Names that the bundle does not declare are left behind: the
 * credentials of another bundle are none of its business.
 * @throws Problem when a source cannot be read
 */
export function readCredentials(bundle: CompiledBundle, { headers, meta }: CredentialSources): Record<string, unknown> {
  const names = Object.keys(membersOf(Reflect.get(bundle.manifest.credentials_schema ?? {}, 'properties')));
  if (names.length === 0) return {};
  const sources = [fromSingleHeaders(names, headers), fromHeader(headers), fromMeta(meta)];
  const layers = sources.flatMap((source) => [source, membersOf(source[bundle.id])]);
  return Object.fromEntries(
    names.flatMap((name) => {
      const layer = layers.findLast((one) => Object.hasOwn(one, name));
      return layer === undefined ? [] : [[name, layer[name]]];
    }),
  );
}

/** Proxies drop headers with `_` in their names, so `X-Credential-API-KEY` is `API_KEY` too. */
function fromSingleHeaders(names: readonly string[], headers: Headers): Named {
  const found = names.map((name) => [name, headers.get(`x-credential-${name}`) ?? headers.get(dashed(name))] as const);
  return Object.fromEntries(found.filter(([, value]) => value !== null));
}

function dashed(name: string): string {
  return `x-credential-${name.replaceAll('_', '-')}`;
}

function fromHeader(headers: Headers): Named {
  const text = headers.get('x-plugin-credentials');
  if (text === null) return {};
  if (!/^[A-Za-z0-9_-]+={0,2}$/.test(text)) throw credentialsHeaderInvalid();
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    if (isNamed(value)) return value;
  } catch {
    // The reason would repeat a part of the text.
  }
  throw credentialsHeaderInvalid();
}

function fromMeta(meta: Named | undefined): Named {
  const value = meta?.[metaKeys.credentials];
  if (value === undefined) return {};
  if (!isNamed(value)) throw credentialsMetaInvalid();
  return value;
}

function membersOf(value: unknown): Named {
  return isNamed(value) ? value : {};
}

function isNamed(value: unknown): value is Named {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
