import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/** The parts of a Fastify request that identify its caller. */
export interface ReceivedRequest {
  readonly id: string;
  /** The peer's address, or the one that trusted proxies name. */
  readonly ip: string;
  readonly raw: IncomingMessage;
}

/** The caller of a request in the log. All members are absent without a key and a session. */
export interface RequestIdentity {
  /** Id of the project that the request is about. */
  readonly project?: string;
  /** Id of the API key. */
  readonly key?: string;
  /** Id of the administrator whose session it is. */
  readonly administrator?: string;
}

/** By message instead of by Fastify's request: a request that the files address passes to the other one has two of those. */
const identities = new WeakMap<IncomingMessage, RequestIdentity>();
const sessions = new WeakMap<IncomingMessage, string>();
const nobody: RequestIdentity = {};

/** Notes who was authenticated, for the lines of the log that are about the request. */
export function identify(request: Pick<ReceivedRequest, 'raw'>, identity: RequestIdentity): void {
  identities.set(request.raw, identity);
}

/** Notes the session, by the hash of its token, that a request was made with. */
export function identifySession(request: Pick<ReceivedRequest, 'raw'>, hash: string): void {
  sessions.set(request.raw, hash);
}

/** The hash of the session's token. Undefined for requests with a key, or with neither. */
export function sessionOf(request: Pick<ReceivedRequest, 'raw'>): string | undefined {
  return sessions.get(request.raw);
}

export function identityOf(request: Pick<ReceivedRequest, 'raw'>): RequestIdentity {
  return identities.get(request.raw) ?? nobody;
}

/** The first fields of a line about access: what happened, and who asked for it from where. */
export function accessEvent(event: string, request: ReceivedRequest) {
  return { event, request_id: request.id, client: clientAddress(request), ...identityOf(request) };
}

/**
 * The address of the client: the peer's, or what the trusted proxies say in `X-Forwarded-For`
 * (`QUARTERMASTER_TRUSTED_PROXIES`). A text that is no address is ignored in favour of the peer's.
 */
export function clientAddress(request: Pick<ReceivedRequest, 'ip' | 'raw'>): string {
  const address = isIP(request.ip) === 0 ? (request.raw.socket.remoteAddress ?? '') : request.ip;
  // An IPv4 peer of a socket that accepts both families.
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}
