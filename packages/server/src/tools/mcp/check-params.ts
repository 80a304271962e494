import { ProtocolErrorCode, specTypeSchemas } from '@modelcontextprotocol/server';
import type { McpAnswer } from './mcp-answer.ts';

/** The requests whose `params` the SDK checks, but reports as a failure of the service. */
const checks: ReadonlyMap<string, (request: unknown) => Checked> = new Map(
  (
    [
      ['initialize', 'InitializeRequest'],
      ['tools/list', 'ListToolsRequest'],
      ['tools/call', 'CallToolRequest'],
      ['resources/list', 'ListResourcesRequest'],
      ['resources/read', 'ReadResourceRequest'],
      ['resources/templates/list', 'ListResourceTemplatesRequest'],
    ] as const
  ).map(([method, name]) => [method, (request) => specTypeSchemas[name]['~standard'].validate(request)]),
);

interface Checked {
  readonly issues?:
    | ReadonlyArray<{ readonly message: string; readonly path?: readonly unknown[] | undefined }>
    | undefined;
}

/** Returns the answer to a request with wrong `params`, which the SDK need not see. Null for every other message. */
export function refuseParams(message: unknown, { isLegacy }: { readonly isLegacy: boolean }): McpAnswer | null {
  const { id, method, params = {} } = Object(message) as Readonly<Record<string, unknown>>;
  if (typeof method !== 'string' || (typeof id !== 'string' && typeof id !== 'number')) return null;
  const reason = findError(method, params, isLegacy);
  if (reason === null) return null;
  const error = { code: ProtocolErrorCode.InvalidParams, message: `Invalid params: ${reason}.` };
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, error }));
  // Clients of earlier revisions read the errors of a method only from answers with status 200.
  return { status: isLegacy ? 200 : 400, headers: [['content-type', 'application/json']], body };
}

function findError(method: string, params: unknown, isLegacy: boolean): string | null {
  if (typeof params !== 'object' || Array.isArray(params)) {
    return `\`params\` must be an object; received ${Array.isArray(params) ? 'an array' : `a ${typeof params}`}`;
  }
  // In the newest revision, the SDK describes what is missing.
  const [first] = (isLegacy && checks.get(method)?.({ method, params }).issues) || [];
  if (first === undefined) return null;
  return `\`${(first.path ?? []).join('.')}\`: ${first.message.replace('Invalid input: ', '')}`;
}
