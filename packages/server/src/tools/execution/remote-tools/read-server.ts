import type { McpSnapshot } from '@quartermaster/importers/mcp-server';
import type { Injection } from '@quartermaster/plugin-kit';
import type { Outbound, OutboundPolicy } from '../../../platform/outbound.ts';
import { Secret } from '../../../platform/secret.ts';
import { version } from '../../../platform/version.ts';
import { defaultLimits } from '../run-policy.ts';
import { type Answered, type McpFailure, openMcpSession } from './mcp-session.ts';

export interface McpServerAddress {
  readonly url: string;
  readonly inject: readonly Injection[];
  readonly credentials: Readonly<Record<string, string>>;
}

/** Requests the tools of an MCP server under the egress rules of plugins. @throws Error that explains the failure */
export async function readMcpServer(
  { url, inject, credentials }: McpServerAddress,
  outbound: Outbound,
  signal: AbortSignal,
): Promise<McpSnapshot> {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol))
    throw new Error(`The address of the MCP server must be an http or https URL; received ${url}.`);
  if (inject.length > 0 && parsed.protocol !== 'https:')
    throw new Error('The URL of the MCP server must be an https URL because credentials are sent to it.');
  const { maxResponseBytes, maxRedirects, timeoutMs } = defaultLimits;
  const policy: OutboundPolicy = {
    hosts: new Set([parsed.host]),
    schemes: new Set(['https', 'http']),
    credentials: new Map(Object.entries(credentials).map(([name, value]) => [name, new Secret(value)])),
    inject,
    maxResponseBytes,
    maxRedirects,
    timeoutMs,
  };
  const send = (request: Parameters<Outbound['send']>[0]) => outbound.send(request, policy, signal);
  const session = resultOf(await openMcpSession(url, { send, version }));
  const tools = resultOf(await session.listTools());
  await session.close();
  return { url, server: session.server, tools };
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
