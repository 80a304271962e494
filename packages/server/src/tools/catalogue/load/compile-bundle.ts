import { type BundleFailure, type CompiledBundle, type CompiledPlugin, isRetired } from '../catalogue.ts';
import {
  credentialsHostOf,
  declaredHosts,
  hostsInForce,
  leavesHosts,
  type OperatorHosts,
} from '../manifest/bundle-hosts.ts';
import { credentialProperties, secretNames } from '../manifest/check-credentials.ts';
import type { JsonSchema, SchemaCompiler } from '../schema/compile-schema.ts';
import type { KnownCapabilities } from './handler-capabilities.ts';
import type { ManifestReader } from './manifest-reader.ts';
import type { PackedBundle, PackedPlugin } from './packed-bundle.ts';

export interface CompileBundleOptions {
  readonly compiler: SchemaCompiler;
  readonly capabilities: KnownCapabilities;
  readonly operatorHosts: OperatorHosts | undefined;
  readonly readManifest: ManifestReader;
  /** The stamp of the files that the bundle was read from. */
  readonly stamp: string;
}

/** Creates the executable form of a bundle. Manifests are read and schemas are compiled at first use. */
export function compileBundle(
  { manifest, folder, plugins: packed }: PackedBundle,
  { compiler, capabilities, operatorHosts, stamp, readManifest }: CompileBundleOptions,
): CompiledBundle {
  const sources = isRetired({ manifest }) ? [] : packed;
  const hasCode = sources.some(({ handlerPath }) => handlerPath !== null);
  const { handlers, sandboxMissing = null } = capabilities;
  const isBorrowed = (manifest.credential_places ?? manifest.piece) !== undefined;
  const needed = isBorrowed ? 'sandbox' : typeof handlers === 'function' ? handlers(folder) : handlers;
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
    checkCredentials: compiler.compileCredentials(() => manifest.credentials_schema ?? { type: 'object' }),
    credentialNames: new Set(credentialProperties(manifest).keys()),
    secretNames: secretNames(manifest),
    plugins,
  };
  for (const source of sources) plugins.set(source.id, compilePlugin(source, { bundle, compiler, readManifest }));
  return bundle;
}

interface PluginParts {
  readonly bundle: CompiledBundle;
  readonly compiler: SchemaCompiler;
  readonly readManifest: ManifestReader;
}

function compilePlugin(
  { id, manifest, handlerPath, unsupported, credentials }: PackedPlugin,
  { bundle, compiler, readManifest }: PluginParts,
): CompiledPlugin {
  return {
    bundle,
    id,
    handlerPath,
    unsupported,
    readInput: compiler.compileInput(() => readManifest(manifest).input_schema),
    checkOutput: compiler.compileOutput(() => readManifest(manifest).output_schema),
    checkCredentials:
      credentials === undefined
        ? bundle.checkCredentials
        : compiler.compileCredentials(() => needing(bundle.manifest.credentials_schema, credentials)),
    get manifest() {
      return readManifest(manifest);
    },
  };
}

/** The schema of credentials with other alternatives of required ones. */
function needing(schema: JsonSchema | undefined, alternatives: NonNullable<PackedPlugin['credentials']>): JsonSchema {
  const { required: _, anyOf: _others, ...rest } = { ...schema };
  const [first = [], ...others] = alternatives;
  if (others.length === 0) return { ...rest, required: [...first] };
  return { ...rest, anyOf: alternatives.map((required) => ({ required: [...required] })) };
}

/** The failure of a bundle whose handlers this machine does not run. The bundle is still listed. */
export function refusalOf({ id, refusal }: CompiledBundle): BundleFailure[] {
  return refusal === undefined ? [] : [{ file: `${id}/bundle.yaml`, line: null, field: 'handler', message: refusal }];
}
