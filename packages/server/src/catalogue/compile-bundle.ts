import { credentialsHostOf, declaredHosts, hostsInForce, leavesHosts, type OperatorHosts } from './bundle-hosts.ts';
import type { BundleFailure, CompiledBundle, CompiledPlugin } from './catalogue.ts';
import { credentialProperties, secretNames } from './check-credentials.ts';
import type { SchemaCompiler } from './compile-schema.ts';
import type { KnownCapabilities } from './load-catalogue.ts';
import type { BundleSource } from './read-bundle.ts';
import type { PluginSource } from './read-plugin.ts';

export interface CompileBundleOptions {
  readonly compiler: SchemaCompiler;
  readonly capabilities: KnownCapabilities;
  readonly operatorHosts: OperatorHosts | undefined;
  /** Of the files it was read from. */
  readonly stamp: string;
}

/** Makes what runs of what was read. Schemas are compiled when they are first used. */
export function compileBundle(
  { manifest, folder, plugins: sources }: BundleSource,
  { compiler, capabilities, operatorHosts, stamp }: CompileBundleOptions,
): CompiledBundle {
  const hasCode = sources.some(({ handlerPath }) => handlerPath !== null);
  const { handlers, sandboxMissing = null } = capabilities;
  const needed = typeof handlers === 'function' ? handlers(folder) : handlers;
  const isRefused = hasCode && needed === 'sandbox' && sandboxMissing !== null;
  const plugins = new Map<string, CompiledPlugin>();
  const bundle: CompiledBundle = {
    id: manifest.id,
    folder,
    stamp,
    manifest,
    hosts: hostsInForce(manifest, operatorHosts),
    hostsBy: leavesHosts(manifest) ? 'operator' : 'bundle',
    credentialsHost: credentialsHostOf(manifest),
    callsOut: leavesHosts(manifest) || declaredHosts(manifest).length > 0,
    isolation: hasCode ? needed : 'none',
    ...(isRefused ? { refusal: `Its handlers need a sandbox, and ${sandboxMissing}.` } : {}),
    checkCredentials: compiler.compileCredentials(manifest.credentials_schema ?? { type: 'object' }),
    credentialNames: new Set(credentialProperties(manifest).keys()),
    secretNames: secretNames(manifest),
    plugins,
  };
  for (const source of sources) plugins.set(source.manifest.id, compilePlugin(source, bundle, compiler));
  return bundle;
}

function compilePlugin(source: PluginSource, bundle: CompiledBundle, compiler: SchemaCompiler): CompiledPlugin {
  const { manifest, handlerPath } = source;
  return {
    bundle,
    id: manifest.id,
    manifest,
    readInput: compiler.compileInput(manifest.input_schema),
    checkOutput: compiler.compileOutput(manifest.output_schema),
    handlerPath,
  };
}

/** A bundle whose handlers are not run is listed all the same: what it declares is data. */
export function refusalOf({ id, refusal }: CompiledBundle): BundleFailure[] {
  return refusal === undefined ? [] : [{ file: `${id}/bundle.yaml`, line: null, field: 'handler', message: refusal }];
}
