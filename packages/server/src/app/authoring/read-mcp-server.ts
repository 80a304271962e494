import type { Injection } from '@quartermaster/plugin-kit';
import { createLogger } from '../../platform/log/logger.ts';
import { Secret } from '../../platform/secret.ts';
import { version } from '../../platform/version.ts';
import type { EgressPolicy } from '../../tools/egress/broker.ts';
import { createBroker } from '../../tools/egress/create-broker.ts';
import { defaultLimits } from '../../tools/execution/executor.ts';
import {
  type Answered,
  type McpFailure,
  type McpServerFacts,
  openMcpSession,
} from '../../tools/execution/remote-tools/mcp-session.ts';
import type { ToolDefinition } from '../../tools/execution/remote-tools/tool-definition.ts';
import { type Environment, parseConfig } from '../settings/config.ts';

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
    ...{ inject, maxResponseBytes, maxRedirects, timeoutMs },
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
