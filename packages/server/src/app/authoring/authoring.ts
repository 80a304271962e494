import { basename, dirname, resolve } from 'node:path';
import { type DefinitionFormat, type DefinitionLoss, definitionFormats } from '@quartermaster/contract';
import type { Injection } from '@quartermaster/plugin-kit';
import { createLogger } from '../../platform/log/logger.ts';
import { Secret } from '../../platform/secret.ts';
import { version } from '../../platform/version.ts';
import type { BundleFailure, CompiledBundle } from '../../tools/catalogue/catalogue.ts';
import { loadFolder } from '../../tools/catalogue/load/load-folder.ts';
import { checkSchema } from '../../tools/catalogue/schema/check-schema.ts';
import { createErrorCollector, wholeFile } from '../../tools/catalogue/schema/error-collector.ts';
import { compileLinearRegExp } from '../../tools/catalogue/schema/linear-regexp.ts';
import type { EgressPolicy } from '../../tools/egress/broker.ts';
import { createBroker } from '../../tools/egress/create-broker.ts';
import {
  type Answered,
  type McpFailure,
  type McpServerFacts,
  openMcpSession,
} from '../../tools/execution/remote-tools/mcp-session.ts';
import type { ToolDefinition } from '../../tools/execution/remote-tools/tool-definition.ts';
import { defaultLimits } from '../../tools/execution/run-policy.ts';
import { type Environment, parseConfig } from '../settings/config.ts';

export { digestOf, type ToolDefinition } from '../../tools/execution/remote-tools/tool-definition.ts';
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

/** The description of an MCP server and its tools at one moment. */
export interface McpSnapshot {
  readonly url: string;
  readonly server: McpServerFacts;
  /** In the order of the server. */
  readonly tools: readonly ToolDefinition[];
}

export interface McpServerAddress {
  readonly url: string;
  readonly inject: readonly Injection[];
  readonly credentials: Readonly<Record<string, string>>;
  /** The operator's settings. Their overrides and allowed addresses apply as for the service. */
  readonly environment: Environment;
}

/** Requests the tools of an MCP server under the egress rules of plugins. @throws Error that explains the failure */
export async function readMcpServer({ url, inject, credentials, environment }: McpServerAddress): Promise<McpSnapshot> {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol))
    throw new Error(`The address of the MCP server must be an http or https URL; received ${url}.`);
  if (inject.length > 0 && parsed.protocol !== 'https:')
    throw new Error('The URL of the MCP server must be an https URL because credentials are sent to it.');
  const { egressOverrides: overrides, egressAllow: allow } = parseConfig(environment);
  const broker = createBroker({ overrides, allow, logger: createLogger('silent'), version });
  const { maxResponseBytes, maxRedirects, timeoutMs } = defaultLimits;
  const policy: EgressPolicy = {
    hosts: new Set([parsed.host]),
    schemes: new Set(['https', 'http']),
    credentials: new Map(Object.entries(credentials).map(([name, value]) => [name, new Secret(value)])),
    inject,
    maxResponseBytes,
    maxRedirects,
    timeoutMs,
  };
  try {
    const send = (request: Parameters<typeof broker.send>[0]) =>
      broker.send(request, policy, new AbortController().signal);
    const session = resultOf(await openMcpSession(url, { send, version }));
    const tools = resultOf(await session.listTools());
    await session.close();
    return { url, server: session.server, tools };
  } finally {
    await broker.close();
  }
}

function resultOf<T>(answered: Answered<T>): T {
  if ('value' in answered) return answered.value;
  throw new Error(`the MCP server cannot be read: ${wordsOf(answered.failure)}`);
}

function wordsOf(failure: McpFailure): string {
  switch (failure.kind) {
    case 'no_answer': {
      const { result } = failure;
      return 'message' in result ? result.message : result.kind.replaceAll('_', ' ');
    }
    case 'status': {
      const { answer, excerpt } = failure;
      return `it answered with status ${answer.status}${excerpt === null ? '' : `: ${excerpt.slice(0, 200)}`}`;
    }
    case 'error':
      return failure.message || `error ${failure.code}`;
    case 'protocol':
      return failure.message;
  }
}
