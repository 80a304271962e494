import { join } from 'node:path';
import type { PluginManifest } from '@quartermaster/plugin-kit';
import type { BundleFailure } from '../catalogue.ts';
import { checkSchema } from '../schema/check-schema.ts';
import type { ErrorCollector } from '../schema/error-collector.ts';
import { credentialProperties, type RequestBasis } from './check-credentials.ts';
import { checkResponse } from './check-expression.ts';
import { type CheckedManifest, checkPluginManifest } from './check-manifest.ts';
import { needsHandler } from './check-places.ts';
import { checkRequest, requestContext } from './check-request.ts';
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
  /** Undefined when these parts of `bundle.yaml` are invalid. Requests cannot be checked without them. */
  readonly basis: RequestBasis | undefined;
}

export interface PluginReading {
  /** Undefined when there is any error. */
  readonly plugin: PluginSource | undefined;
  readonly failures: readonly BundleFailure[];
}

/** Of an ordinary handler, and of a piece. */
const maxHandlerBytes = 2 * 2 ** 20;
const maxPieceBytes = 8 * 2 ** 20;

/** Reads and checks one plugin of a bundle. */
export async function readPlugin(folder: string, file: PluginFile): Promise<PluginReading> {
  const place = { folder, name: `${file.pluginId}.yaml`, label: file.label };
  const check = (value: unknown, found: ErrorCollector) => checkPlugin(value, file, found);
  const { manifest: checked, errors } = await readManifestFile(place, check);
  const { manifest, members } = checked ?? {};
  if (members?.handler !== undefined) await checkHandler({ folder, handler: members.handler }, errors);
  if (manifest === undefined || errors.list.length > 0) return { plugin: undefined, failures: errors.list };
  const handlerPath = manifest.handler === undefined ? null : join(folder, manifest.handler);
  return { plugin: { manifest, handlerPath }, failures: [] };
}

/** Performs the checks that need only the manifests. */
function checkPlugin(value: unknown, file: PluginFile, errors: ErrorCollector): CheckedManifest<PluginManifest> {
  const { manifest, members } = checkPluginManifest(value, errors);
  const { id, input_schema: input, output_schema: output } = members;
  if (id !== undefined && id !== file.pluginId) {
    const found = JSON.stringify(id);
    errors.add(['id'], `Must be ${JSON.stringify(file.pluginId)}, the name of the file; received ${found}.`);
  }
  if (input !== undefined) checkSchema(input, ['input_schema'], errors);
  if (output !== undefined) checkSchema(output, ['output_schema'], errors);
  if (manifest !== undefined) checkTier(manifest, errors);
  checkRequests(members, file.basis, errors);
  if (members.response !== undefined) checkResponse(members.response, ['response'], errors);
  return { manifest, members };
}

/** Checks that the plugin is declared in exactly one way: a request, a handler or a remote tool. */
function checkTier(manifest: PluginManifest, errors: ErrorCollector): void {
  const { request, response, handler, mcp, piece } = manifest;
  if (request === undefined && handler === undefined && mcp === undefined) {
    errors.add([], 'One of "request" (no code), "handler" (a file with code) or "mcp" (a remote tool) is required.');
  }
  if (handler !== undefined) {
    if (request !== undefined)
      errors.add(['handler'], 'Must not be set beside "request"; a plugin has one of the two.');
    else if (response !== undefined)
      errors.add(['response'], 'Must not be set beside "handler", which returns the output itself.');
  }
  if ((handler === 'piece.cjs') !== (piece !== undefined)) {
    errors.add(['piece'], 'Must be set beside "handler: piece.cjs", and only there.');
  }
  if (mcp !== undefined) {
    if (request !== undefined || handler !== undefined || response !== undefined)
      errors.add(['mcp'], 'Must not be set beside "request", "response" or "handler".');
  }
}

function checkRequests(
  { credentials = [], request, mcp, piece, input_schema: input }: Partial<PluginManifest>,
  basis: RequestBasis | undefined,
  errors: ErrorCollector,
): void {
  if (basis === undefined) return;
  const known = credentialProperties(basis);
  for (const name of credentials.flat().filter((one) => !known.has(one))) {
    errors.add(['credentials'], `${JSON.stringify(name)} is not in credentials_schema.`);
  }
  if ((piece === undefined) !== (basis.piece === undefined)) {
    errors.add(['piece'], 'Must be set in every plugin of a bundle with "piece", and in no other.');
  }
  if (basis.credential_places !== undefined && (request ?? mcp) !== undefined) errors.add([], needsHandler);
  if (mcp !== undefined) {
    // The URL is fixed and contains no parameters.
    checkRequest({ method: 'POST', url: mcp.url }, ['mcp'], { context: requestContext(basis, new Set()), errors });
  }
  if (request === undefined || input === undefined) return;
  const properties: unknown = Reflect.get(input, 'properties');
  const parameters = new Set(typeof properties === 'object' && properties !== null ? Object.keys(properties) : []);
  checkRequest(request, ['request'], { context: requestContext(basis, parameters), errors });
}

async function checkHandler(
  { folder, handler }: { readonly folder: string; readonly handler: string },
  errors: ErrorCollector,
): Promise<void> {
  const maxBytes = handler === 'piece.cjs' ? maxPieceBytes : maxHandlerBytes;
  const file = await readPlainFile({ folder, name: handler, maxBytes });
  if ('refusal' in file) errors.add(['handler'], file.refusal);
}
