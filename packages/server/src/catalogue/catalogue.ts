import type { Bundle, DefinitionFormat, DefinitionLoss, ErrorDetail, Isolation, Plugin } from '@quartermaster/contract';
import type { BundleManifest, PluginManifest } from '@quartermaster/plugin-kit';
import type { Prepared } from '../kernel/concurrency/prepared-lists.ts';

/**
 * Says what is wrong with a value, or that nothing is: where, as a JSON pointer (empty for the value itself), and what
 * was expected and found there. Compiled once; linear-time regular expressions.
 */
export type Check = (value: unknown) => readonly ErrorDetail[];

export interface CompiledPlugin {
  readonly bundle: CompiledBundle;
  readonly id: string;
  /** Unpacked on access; do not hold it longer than a call. */
  readonly manifest: PluginManifest;
  /** Formats of a list that cannot represent it without losses. */
  readonly unsupported: readonly DefinitionFormat[];
  /** Checks without coercion; adds the schema's defaults to a copy. */
  readonly readInput: (value: Record<string, unknown>) => {
    input: Record<string, unknown>;
    violations: readonly ErrorDetail[];
  };
  readonly checkOutput: Check;
  /** Absolute path of the handler, null for a declarative plugin. */
  readonly handlerPath: string | null;
}

export interface CompiledBundle {
  readonly id: string;
  readonly folder: string;
  /** Another text is another version of its files; the same folder may have held both. */
  readonly stamp: string;
  readonly manifest: BundleManifest;
  /** Where it may call: what it declares, or what the operator allows it. */
  readonly hosts: readonly string[];
  readonly hostsBy: 'bundle' | 'operator';
  /** Name of the credential that says to which host the others go; undefined: to all of them. */
  readonly credentialsHost: string | undefined;
  /** Whether it calls anybody, now or once the operator allows it. */
  readonly callsOut: boolean;
  readonly isolation: Isolation;
  /** Why its handlers are not run on this machine; absent: they are. */
  readonly refusal?: string;
  readonly checkCredentials: Check;
  /** Names of the credentials that it declares. */
  readonly credentialNames: ReadonlySet<string>;
  /** Names of the credentials whose schema says `x-secret`. */
  readonly secretNames: ReadonlySet<string>;
  readonly plugins: ReadonlyMap<string, CompiledPlugin>;
}

/** A bundle or plugin that could not be loaded: never hides the others. */
export interface BundleFailure {
  readonly file: string;
  readonly line: number | null;
  readonly field: string;
  readonly message: string;
}

/** A bundle's picture, ready to be sent. */
export interface Icon {
  readonly etag: string;
  readonly body: Buffer;
  readonly mediaType: 'image/svg+xml' | 'image/png';
}

/**
 * Everything the plugins address lists. A list is built when it is first asked for. A `language` may be anything: the answer is in
 * that language, else in its parent (`zh-CN` → `zh`), else in English.
 */
export interface Catalogue {
  /** Sorted by id. */
  readonly bundles: ReadonlyMap<string, CompiledBundle>;
  readonly failures: readonly BundleFailure[];
  /** Ids of bundles that are still being read. */
  readonly loading: readonly string[];
  /** Ids of bundles whose files were changed into something that does not load: the version before is in force. */
  readonly kept: readonly string[];
  findBundle(bundleId: string): CompiledBundle | undefined;
  findPlugin(bundleId: string, pluginId: string): CompiledPlugin | undefined;
  /** Undefined when there is no such bundle or it has no icon. */
  findIcon(bundleId: string): Icon | undefined;
  describeBundle(bundle: CompiledBundle, language: string): Bundle;
  describePlugin(plugin: CompiledPlugin, language: string): Plugin;
  /** The plugin in the form of a provider, and what that form could not say of it. */
  definePlugin(
    plugin: CompiledPlugin,
    format: DefinitionFormat,
    language: string,
  ): { readonly losses: readonly DefinitionLoss[] };
  /** The answer of `GET /v1/bundles`. */
  bundleList(language: string): Promise<Prepared>;
  /** The answer of `GET /v1/plugins`; without a bundle id all plugins. Unknown bundle: undefined. */
  pluginList(bundleId: string | undefined, language: string): Promise<Prepared | undefined>;
  /** As pluginList, in the form of a provider. */
  definitionList(
    format: DefinitionFormat,
    bundleId: string | undefined,
    language: string,
  ): Promise<Prepared | undefined>;
  /** The answer of `GET /v1/bundles/{bundle_id}/openapi.json`. Unknown bundle: undefined. */
  bundleOpenApi(bundleId: string, language: string): Promise<Prepared | undefined>;
  /** The answer of `GET /v1/bundles/{bundle_id}`. Unknown bundle: undefined. */
  bundleDetail(bundleId: string, language: string): Promise<Prepared | undefined>;
  /** The answer of `GET /v1/plugins/{bundle_id}/{plugin_id}`. Unknown plugin: undefined. */
  pluginDetail(bundleId: string, pluginId: string, language: string): Promise<Prepared | undefined>;
}
