import { basename, dirname, resolve } from 'node:path';
import { type DefinitionFormat, type DefinitionLoss, definitionFormats } from '@quartermaster/contract';
import type { BundleFailure, CompiledBundle } from '../../tools/catalogue/catalogue.ts';
import { loadFolder } from '../../tools/catalogue/load/load-folder.ts';
import { createErrorCollector, wholeFile } from '../../tools/catalogue/manifest/error-collector.ts';
import { checkSchema } from '../../tools/catalogue/schema/check-schema.ts';
import { compileLinearRegExp } from '../../tools/catalogue/schema/linear-regexp.ts';

export { digestOf, type ToolDefinition } from '../../tools/execution/remote-tools/tool-definition.ts';
export { type McpSnapshot, readMcpServer } from './read-mcp-server.ts';
export { type ExampleRecording, type RecordOptions, recordExamples } from './record-examples.ts';
export { type ExampleResult, runExamples } from './run-examples.ts';

/** Tools for authors of bundles that need no running service. */

/** Checks a schema as the catalogue does. Returns one sentence for each error. */
export function findSchemaErrors(schema: Readonly<Record<string, unknown>>): string[] {
  const errors = createErrorCollector('', () => null);
  checkSchema(schema, [], errors);
  return errors.list.map(({ field, message }) => `${field}: ${message}`);
}

/** Formats an error of a bundle for people, with its place as editors read it: `file:line field: message`. */
export function formatBundleFailure({ file, line, field, message }: BundleFailure): string {
  const place = line === null ? file : `${file}:${line}`;
  return field === wholeFile ? `${place}: ${message}` : `${place} ${field}: ${message}`;
}

/** Returns why a pattern cannot be used in a schema; null when it can. */
export function isLinearPattern(pattern: string): string | null {
  try {
    compileLinearRegExp(pattern);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
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
