import { join } from 'node:path';
import type { BundleManifest, PluginManifest } from '@quartermaster/plugin-kit';
import type { BundleFailure } from '../catalogue.ts';
import { checkSchema } from '../schema/check-schema.ts';
import { checkResponse } from './check-expression.ts';
import { readPluginManifest } from './check-manifest.ts';
import { checkRequest, requestContext } from './check-request.ts';
import type { ErrorCollector } from './error-collector.ts';
import { readPlainFile } from './plain-file.ts';
import { readManifestFile } from './read-manifest-file.ts';

/** A plugin that was read from its file and checked. */
export interface PluginSource {
  readonly manifest: PluginManifest;
  /** An absolute path; null for a declarative plugin. */
  readonly handlerPath: string | null;
}

export interface PluginFile {
  /** The name of the file in errors, relative to the folder of bundles. */
  readonly label: string;
  /** The file is `<pluginId>.yaml`. */
  readonly pluginId: string;
  readonly bundle: BundleManifest;
}

export interface PluginReading {
  /** Undefined when there is any error. */
  readonly plugin: PluginSource | undefined;
  readonly failures: readonly BundleFailure[];
}

const maxHandlerBytes = 1024 * 1024;

/** Reads and checks one plugin of a bundle. */
export async function readPlugin(folder: string, file: PluginFile): Promise<PluginReading> {
  const place = { folder, name: `${file.pluginId}.yaml`, label: file.label };
  const check = (value: unknown, found: ErrorCollector) => checkPlugin(value, file, found);
  const { manifest, errors } = await readManifestFile(place, check);
  if (manifest === undefined) return { plugin: undefined, failures: errors.list };
  if (manifest.handler !== undefined) await checkHandler({ folder, handler: manifest.handler }, errors);
  if (errors.list.length > 0) return { plugin: undefined, failures: errors.list };
  const handlerPath = manifest.handler === undefined ? null : join(folder, manifest.handler);
  return { plugin: { manifest, handlerPath }, failures: [] };
}

/** Performs the checks that need only the manifests. */
function checkPlugin(value: unknown, file: PluginFile, errors: ErrorCollector): PluginManifest | undefined {
  const manifest = readPluginManifest(value, errors);
  if (manifest === undefined) return undefined;
  if (manifest.id !== file.pluginId) {
    const found = JSON.stringify(manifest.id);
    errors.add(['id'], `Must be ${JSON.stringify(file.pluginId)}, the name of the file; received ${found}.`);
  }
  checkSchema(manifest.input_schema, ['input_schema'], errors);
  checkSchema(manifest.output_schema, ['output_schema'], errors);
  checkTier(manifest, file.bundle, errors);
  return manifest;
}

/** Checks that the plugin is declared in exactly one way: a request, a handler or a remote tool. */
function checkTier(manifest: PluginManifest, bundle: BundleManifest, errors: ErrorCollector): void {
  const { request, response, handler, mcp } = manifest;
  if (request === undefined && handler === undefined && mcp === undefined) {
    errors.add([], 'One of "request" (no code), "handler" (a file with code) or "mcp" (a remote tool) is required.');
  }
  if (handler !== undefined) {
    if (request !== undefined)
      errors.add(['handler'], 'Must not be set beside "request"; a plugin has one of the two.');
    else if (response !== undefined)
      errors.add(['response'], 'Must not be set beside "handler", which returns the output itself.');
  }
  if (mcp !== undefined) {
    if (request !== undefined || handler !== undefined || response !== undefined)
      errors.add(['mcp'], 'Must not be set beside "request", "response" or "handler".');
    // The URL is fixed and contains no parameters.
    checkRequest({ method: 'POST', url: mcp.url }, ['mcp'], { context: requestContext(bundle, new Set()), errors });
  }
  if (request !== undefined) {
    const properties: unknown = Reflect.get(manifest.input_schema, 'properties');
    const parameters = new Set(typeof properties === 'object' && properties !== null ? Object.keys(properties) : []);
    checkRequest(request, ['request'], { context: requestContext(bundle, parameters), errors });
  }
  if (response !== undefined) checkResponse(response, ['response'], errors);
}

async function checkHandler(
  { folder, handler }: { readonly folder: string; readonly handler: string },
  errors: ErrorCollector,
): Promise<void> {
  const file = await readPlainFile({ folder, name: handler, maxBytes: maxHandlerBytes });
  if ('refusal' in file) errors.add(['handler'], file.refusal);
}
