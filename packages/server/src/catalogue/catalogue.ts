import type { Bundle, Isolation, OutputViolation, Plugin } from '@quartermaster/contract';
import type { BundleManifest, PluginManifest } from '@quartermaster/plugin-kit';

/** Says what is wrong with a value, or that nothing is. Compiled once; linear-time regular expressions. */
export type Check = (value: unknown) => readonly OutputViolation[];

export interface CompiledPlugin {
  readonly bundle: CompiledBundle;
  readonly id: string;
  readonly manifest: PluginManifest;
  /** Checks without coercion; adds the schema's defaults to a copy. */
  readonly readInput: (value: Record<string, unknown>) => {
    input: Record<string, unknown>;
    violations: readonly OutputViolation[];
  };
  readonly checkOutput: Check;
  /** Absolute path of the handler, null for a declarative plugin. */
  readonly handlerPath: string | null;
}

export interface CompiledBundle {
  readonly id: string;
  readonly folder: string;
  readonly manifest: BundleManifest;
  readonly isolation: Isolation;
  readonly checkCredentials: Check;
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

/** JSON text made once at load, with its strong ETag. */
export interface Prepared {
  readonly body: Buffer;
  readonly etag: string;
}

/** Everything the plugins address lists, read once, served from memory. */
export interface Catalogue {
  readonly bundles: ReadonlyMap<string, CompiledBundle>;
  readonly failures: readonly BundleFailure[];
  findBundle(bundleId: string): CompiledBundle | undefined;
  findPlugin(bundleId: string, pluginId: string): CompiledPlugin | undefined;
  describeBundle(bundle: CompiledBundle, language: string): Bundle;
  describePlugin(plugin: CompiledPlugin, language: string): Plugin;
  /** The answer of `GET /v1/bundles`. */
  bundleList(language: string): Prepared;
  /** The answer of `GET /v1/plugins`; without a bundle id all plugins. Unknown bundle: undefined. */
  pluginList(bundleId: string | undefined, language: string): Prepared | undefined;
}
