import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  classifyInboundRequest,
  isJsonContentType,
  PROTOCOL_VERSION_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server';
import { isJsonObject } from '../kernel/json-object.ts';

/** A header of a request by its name, which has no capitals; undefined when it was not sent. */
export type ReadHeader = (name: string) => string | undefined;

/** A request for a result and nothing beside it: no progress, no page, nothing that the protocol reserves. */
export type PlainRequest = {
  readonly id: string | number;
  /** Of 2026-07-28; otherwise of a revision before it. */
  readonly isNewest: boolean;
} & ({ readonly method: 'tools/list' } | ({ readonly method: 'tools/call' } & PlainCall));

interface PlainCall {
  readonly name: string;
  readonly input: Record<string, unknown>;
  readonly meta: Readonly<Record<string, unknown>> | undefined;
}

const newest = '2026-07-28';

/**
 * @returns null for everything that is not certainly plain and right: that is for the library to answer or to refuse.
 *   It is the library too that says of which revision the message is, and whether its form, its envelope and its headers
 *   agree.
 */
export function readPlainRequest(headerOf: ReadHeader, message: unknown): PlainRequest | null {
  if (!isJsonObject(message) || (message.method !== 'tools/call' && message.method !== 'tools/list')) return null;
  const outcome = classifyMessage(headerOf, message);
  const isNewest = outcome.kind === 'modern';
  if (outcome.kind === 'reject' || !(isNewest ? fitsNewest : fitsOlder)(headerOf)) return null;
  const { id, method, params = {} } = message;
  if (!isId(id) || !isJsonObject(params) || !isPlainMeta(params._meta)) return null;
  const { _meta: meta, ...own } = params;
  if (method === 'tools/list') return Object.keys(own).length === 0 ? { id, isNewest, method } : null;
  const { name, arguments: input = {}, ...rest } = own;
  if (typeof name !== 'string' || !isJsonObject(input) || Object.keys(rest).length > 0) return null;
  if (isNewest && headerOf('mcp-name') !== name) return null;
  return { id, isNewest, method: 'tools/call', name, input, meta };
}

function classifyMessage(headerOf: ReadHeader, body: object) {
  const [protocolVersionHeader, mcpMethodHeader] = [headerOf('mcp-protocol-version'), headerOf('mcp-method')];
  return classifyInboundRequest({
    httpMethod: 'POST',
    body,
    ...(protocolVersionHeader === undefined ? {} : { protocolVersionHeader }),
    ...(mcpMethodHeader === undefined ? {} : { mcpMethodHeader }),
  });
}

/** That they agree with the message was found already. */
function fitsNewest(headerOf: ReadHeader): boolean {
  const isHere = headerOf('mcp-protocol-version') === newest && headerOf('mcp-method') !== undefined;
  return isHere && isJsonContentType(headerOf('content-type') ?? '');
}

function fitsOlder(headerOf: ReadHeader): boolean {
  const accepted = headerOf('accept') ?? '';
  return (
    SUPPORTED_PROTOCOL_VERSIONS.includes(headerOf('mcp-protocol-version') ?? '') &&
    accepted.includes('application/json') &&
    accepted.includes('text/event-stream') &&
    isJsonContentType(headerOf('content-type') ?? '')
  );
}

function isId(id: unknown): id is string | number {
  return typeof id === 'string' || typeof id === 'number';
}

const envelope: readonly string[] = [PROTOCOL_VERSION_META_KEY, CLIENT_INFO_META_KEY, CLIENT_CAPABILITIES_META_KEY];
const reserved = 'io.modelcontextprotocol/';

/** A `progressToken` asks for events; of names that the protocol reserves only the envelope is known here. */
function isPlainMeta(meta: unknown): meta is PlainCall['meta'] {
  if (meta === undefined) return true;
  if (!isJsonObject(meta) || meta.progressToken !== undefined) return false;
  return Object.keys(meta).every((key) => !key.startsWith(reserved) || envelope.includes(key));
}
