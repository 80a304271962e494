import type { Bundle, DefinitionFormat, DefinitionLoss, ErrorDetail, Isolation, Plugin } from '@quartermaster/contract';
import type { BundleManifest, PluginManifest } from '@quartermaster/plugin-kit';
import type { CachedJson } from '../../platform/json/json-cache.ts';
import type { Permissions } from '../../platform/permissions.ts';

/**
 * Validates a value. Returns an error for each broken rule: the place as a JSON pointer (empty for the value itself), what was
 * found and what was expected. Compiled once, with regular expressions of linear time.
 */
export type Check = (value: unknown) => readonly ErrorDetail[];

export interface CompiledPlugin {
  readonly bundle: CompiledBundle;
  readonly id: string;
  /** Unpacked on each access. Do not keep it longer than a call. */
  readonly manifest: PluginManifest;
  /** List formats that cannot represent the plugin without losses. */
  readonly unsupported: readonly DefinitionFormat[];
  /** Validates without coercion and adds the defaults of the schema to a copy. */
  readonly readInput: (value: Record<string, unknown>) => {
    input: Record<string, unknown>;
    violations: readonly ErrorDetail[];
  };
  readonly checkOutput: Check;
  /** Like that of the bundle, with what this plugin needs. */
  readonly checkCredentials: Check;
  /** The absolute path of the handler; null for a declarative plugin. */
  readonly handlerPath: string | null;
}

export interface CompiledBundle {
  readonly id: string;
  readonly folder: string;
  /** Identifies the version of the bundle's files. The same folder may have held several versions. */
  readonly stamp: string;
  readonly manifest: BundleManifest;
  /** The hosts that the bundle may call: those it declares, or those that the operator allows. */
  readonly hosts: readonly string[];
  readonly hostsBy: 'bundle' | 'operator';
  /** The credential that names the host for all credentials. When undefined, they go to every host. */
  readonly credentialsHost: string | undefined;
  /** Whether the bundle calls any host, now or once the operator allows it. */
  readonly callsOut: boolean;
  readonly isolation: Isolation;
  /** Why this machine does not run its handlers; absent when it does. */
  readonly refusal?: string;
  readonly checkCredentials: Check;
  /** The names of the declared credentials. */
  readonly credentialNames: ReadonlySet<string>;
  /** The names of the credentials that `x-secret` marks. */
  readonly secretNames: ReadonlySet<string>;
  readonly plugins: ReadonlyMap<string, CompiledPlugin>;
}

/** Whether the bundle can no longer be used. It has no plugins, and lists leave it out by default. */
export function isRetired({ manifest }: Pick<CompiledBundle, 'manifest'>): boolean {
  return manifest.retired !== undefined;
}

/** A bundle or plugin that could not be loaded. It never hides others. */
export interface BundleFailure {
  readonly file: string;
  readonly line: number | null;
  readonly field: string;
  readonly message: string;
}

/** The icon of a bundle, ready to be sent. */
export interface Icon {
  readonly etag: string;
  readonly body: Buffer;
  readonly mediaType: 'image/svg+xml' | 'image/png';
}

/** What describes plugins to callers. */
export type PluginLists = Pick<
  Catalogue,
  | 'describePlugin'
  | 'definePlugin'
  | 'pluginList'
  | 'definitionList'
  | 'bundleOpenApi'
  | 'bundleDetail'
  | 'pluginDetail'
>;

/**
 * The content of the plugins address. A list is built at its first request. `language` may be any text: the response is
 * in that language, otherwise in its parent (`zh-CN` → `zh`), otherwise in English.
 */
export interface Catalogue {
  /** Sorted by id. */
  readonly bundles: ReadonlyMap<string, CompiledBundle>;
  readonly failures: readonly BundleFailure[];
  /** The ids of bundles that have not been read yet. */
  readonly loading: readonly string[];
  /** The ids of bundles whose changed files do not load. Their previous version stays active. */
  readonly kept: readonly string[];
  /** Identifies the definitions of all plugins, equal on all nodes that serve the same. It does not cover the code of handlers. */
  digest(): string;
  findBundle(bundleId: string): CompiledBundle | undefined;
  findPlugin(bundleId: string, pluginId: string): CompiledPlugin | undefined;
  /** Undefined for an unknown bundle, and for one without an icon. */
  findIcon(bundleId: string): Icon | undefined;
  describeBundle(bundle: CompiledBundle, language: string): Bundle;
  describePlugin(plugin: CompiledPlugin, language: string): Plugin;
  /** Returns the plugin in a provider's format, and what the format cannot represent. */
  definePlugin(
    plugin: CompiledPlugin,
    format: DefinitionFormat,
    language: string,
  ): { readonly losses: readonly DefinitionLoss[] };
  /** Builds the answer of `GET /v1/bundles`. */
  bundleList(language: string, withRetired?: boolean): Promise<CachedJson>;
  /** Builds the answer of `GET /v1/plugins`; without a bundle id it has all plugins. Undefined for an unknown bundle. */
  pluginList(bundleId: string | undefined, language: string): Promise<CachedJson | undefined>;
  /** Builds the same list in a provider's format. */
  definitionList(
    format: DefinitionFormat,
    bundleId: string | undefined,
    language: string,
  ): Promise<CachedJson | undefined>;
  /** Builds the answer of `GET /v1/bundles/{bundle_id}/openapi.json`. Undefined for an unknown bundle. */
  bundleOpenApi(bundleId: string, language: string): Promise<CachedJson | undefined>;
  /** Builds the answer of `GET /v1/bundles/{bundle_id}`. Undefined for an unknown bundle. */
  bundleDetail(bundleId: string, language: string): Promise<CachedJson | undefined>;
  /** Builds the answer of `GET /v1/plugins/{bundle_id}/{plugin_id}`. Undefined for an unknown plugin. */
  pluginDetail(bundleId: string, pluginId: string, language: string): Promise<CachedJson | undefined>;
  /** The same for callers who cannot name stored files, so that no input offers it. Source: ADR 0102. */
  readonly withoutFiles: PluginLists;
  /** Returns the catalogue as a caller sees it. */
  visibleTo(permissions: Permissions): Catalogue;
}
