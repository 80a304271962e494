import { basename, dirname, resolve } from 'node:path';
import { type DefinitionFormat, type DefinitionLoss, definitionFormats } from '@quartermaster/contract';
import type { McpSnapshot } from '@quartermaster/importers/mcp-server';
import { createLogger } from '../../platform/log/logger.ts';
import { version } from '../../platform/version.ts';
import type { BundleFailure, CompiledBundle } from '../../tools/catalogue/catalogue.ts';
import { loadFolder } from '../../tools/catalogue/load/load-folder.ts';
import { wholeFile } from '../../tools/catalogue/schema/error-collector.ts';
import { createBroker } from '../../tools/egress/create-broker.ts';
import { type McpServerAddress, readMcpServer as readTools } from '../../tools/execution/remote-tools/read-server.ts';
import { type Environment, parseConfig } from '../settings/config.ts';

export { schemaChecks } from '../../tools/catalogue/schema/schema-checks.ts';
export { digestOf } from '../../tools/execution/remote-tools/tool-definition.ts';
export { type ExampleRecording, type RecordOptions, recordExamples } from './record-examples.ts';
export { type ExampleResult, runExamples } from './run-examples.ts';

/** Tools for authors of bundles that need no running service. */

/** Formats an error of a bundle for people, with its place as editors read it: `file:line field: message`. */
export function formatBundleFailure({ file, line, field, message }: BundleFailure): string {
  const place = line === null ? file : `${file}:${line}`;
  return field === wholeFile ? `${place}: ${message}` : `${place} ${field}: ${message}`;
}

export interface BundleCheck {
  readonly failures: readonly BundleFailure[];
  /** Undefined when `bundle.yaml` is invalid. */
  readonly bundle: CompiledBundle | undefined;
  readonly losses: ReadonlyArray<{
    readonly pluginId: string;
    readonly format: DefinitionFormat;
    readonly losses: readonly DefinitionLoss[];
  }>;
}

/** Reads one bundle as the service does. Reports its errors, and what each provider's format cannot represent. */
export async function checkBundle(folder: string): Promise<BundleCheck> {
  const path = resolve(folder);
  const catalogue = await loadFolder(dirname(path));
  const id = basename(path);
  const bundle = catalogue.findBundle(id);
  const losses = [...(bundle?.plugins.values() ?? [])].flatMap((plugin) =>
    definitionFormats.map((format) => {
      return { pluginId: plugin.id, format, losses: catalogue.definePlugin(plugin, format, 'en').losses };
    }),
  );
  const failures = catalogue.failures.filter(({ file }) => file.startsWith(`${id}/`));
  if (bundle !== undefined || failures.length > 0) return { failures, bundle, losses };
  const message = 'This path is not a folder. Name the folder of a bundle.';
  return { failures: [{ file: path, line: null, field: wholeFile, message }], bundle, losses };
}

/**
 * Requests the tools of an MCP server under the egress rules of plugins.
 * @param environment the operator's settings. Their overrides and allowed addresses apply as for the service
 * @throws Error that explains the failure
 */
export async function readMcpServer(address: McpServerAddress, environment: Environment): Promise<McpSnapshot> {
  const { egressOverrides: overrides, egressAllow: allow } = parseConfig(environment);
  const broker = createBroker({ overrides, allow, logger: createLogger('silent'), version });
  try {
    return await readTools(address, broker, new AbortController().signal);
  } finally {
    await broker.close();
  }
}
