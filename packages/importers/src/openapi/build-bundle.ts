import type { BundleManifest, Injection } from '@quartermaster/plugin-kit';
import {
  areSame,
  type CredentialNeeds,
  commonNeeds,
  needsNone,
  needsOfBundle,
  requiredIn,
} from './credential-needs.ts';
import { type Json, type OpenApiDocument, textOf } from './document.ts';
import type { ImportedOperation } from './operation.ts';
import { verificationOf } from './proposals.ts';
import type { Credentials } from './security.ts';

interface Parts {
  readonly id: string;
  readonly title: string;
  readonly credentials: Credentials;
  readonly plugins: ReadonlyMap<string, ImportedOperation>;
}

/** Builds the manifests of a bundle from its operations. */
export function buildBundle(document: OpenApiDocument, { id, title, credentials, plugins }: Parts) {
  const info = Object(document.root.info);
  const list = [...plugins.values()];
  const shared = sharedInjections(list);
  const names = Object.keys(credentials.properties);
  const needs = needsOfBundle(list.map((plugin) => plugin.needs));
  const notes: string[] = [];
  const main = commonNeeds(list.map((plugin) => plugin.needs));
  const similar = list.filter((one) => one.inject.length > 0 && areSame(one.needs, main));
  const verify = verificationOf(
    similar.map(({ plugin, inject }) => ({
      ...plugin,
      inject: inject.filter((one) => !shared.some((other) => isSame(one, other))),
    })),
  );
  if (verify !== undefined)
    notes.push(`Proposed: credentials are checked by GET ${String(verify.request.url)}. To change it, edit "verify".`);
  const manifest = {
    id,
    version: versionOf(textOf(info.version)),
    name: title.slice(0, 120),
    description: (textOf(info.description) || title).slice(0, 4_000),
    provider: new URL(`https://${list[0]?.host ?? ''}`).hostname,
    developer: 'Imported from OpenAPI',
    hosts: [...new Set([...list.map(({ host }) => host), ...list.flatMap(tokenHosts)])].sort(),
    ...(names.length === 0
      ? {}
      : {
          credentials_schema: {
            type: 'object',
            ...requiredIn(needs),
            properties: { ...credentials.properties },
          },
        }),
    ...(shared.length === 0 ? {} : { inject: [...shared] }),
    ...(verify === undefined ? {} : { verify }),
  } satisfies Omit<BundleManifest, 'credentials_schema' | 'verify'> & { credentials_schema?: object; verify?: object };
  const manifests = [...plugins].map(([pluginId, operation]) => {
    const inject = operation.inject.filter((one) => !shared.some((other) => isSame(one, other)));
    const secure = [...shared, ...inject].length > 0;
    return [pluginId, pluginManifest(pluginId, operation, { inject, secure, notes, needs })] as const;
  });
  return { bundle: manifest, plugins: new Map<string, Json>(manifests), notes: [...new Set(notes)] };
}

/** The hosts of token endpoints, which the bundle must declare too. */
function tokenHosts({ inject }: ImportedOperation): string[] {
  return inject.flatMap((one) => (one.in === 'oauth2' ? [new URL(one.token_url).host] : []));
}

interface PluginParts {
  readonly inject: readonly Injection[];
  readonly secure: boolean;
  readonly notes: string[];
  /** What the bundle requires. */
  readonly needs: CredentialNeeds;
}

function pluginManifest(
  id: string,
  { plugin, needs: own }: ImportedOperation,
  { inject, secure, notes, needs }: PluginParts,
): Json {
  const { request, ...rest } = plugin;
  const url = String(request.url);
  const isUnsafe = secure && url.startsWith('http:');
  if (isUnsafe) notes.push(`${new URL(url).origin} is called by https:, since credentials are sent there.`);
  const safeUrl = isUnsafe ? url.replace(/^http:/, 'https:') : url;
  // Without this member, a request with injections of its own needs one of them.
  const isReported = needsNone(own) ? inject.length === 0 && needsNone(needs) : areSame(own, needs);
  const credentials = isReported ? {} : { credentials: needsNone(own) ? [[]] : own };
  return {
    id,
    ...rest,
    ...credentials,
    request: { ...request, url: safeUrl, ...(inject.length === 0 ? {} : { inject }) },
  };
}

/** The injections of all plugins, which the bundle declares. The requests declare the others. */
function sharedInjections([first, ...others]: readonly ImportedOperation[]): readonly Injection[] {
  return (first?.inject ?? []).filter((one) =>
    others.every(({ inject }) => inject.some((other) => isSame(one, other))),
  );
}

function isSame(a: Injection, b: Injection): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function versionOf(text: string): string {
  const [, major = '1', minor = '0', patch = '0'] = /(\d+)(?:\.(\d+))?(?:\.(\d+))?/.exec(text) ?? [];
  return `${Number(major)}.${Number(minor)}.${Number(patch)}`;
}
