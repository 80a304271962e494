import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/** The parts of a Fastify request that identify its caller. */
export interface ReceivedRequest {
  readonly id: string;
  /** The address of the peer, or the one that trusted proxies report. */
  readonly ip: string;
  readonly raw: IncomingMessage;
}

/** The caller of a request, for the log. Empty without a key and a session. */
export interface RequestIdentity {
  /** The id of the project that the request concerns. */
  readonly project?: string;
  /** The id of the API key. */
  readonly key?: string;
  /** The id of the account that owns the session. */
  readonly account?: string;
}

/** Keyed by message, because a request that the files address forwards to the plugins address has two Fastify requests. */
const identities = new WeakMap<IncomingMessage, RequestIdentity>();
const standings = new WeakMap<IncomingMessage, string>();
const unidentified: RequestIdentity = {};

/** Records the authenticated caller for log lines about the request. */
export function identify(request: Pick<ReceivedRequest, 'raw'>, identity: RequestIdentity): void {
  identities.set(request.raw, identity);
}

/** Records the session or the grant of a request and the rights of its person, such as `<hash> <project> member`. */
export function identifyStanding(request: Pick<ReceivedRequest, 'raw'>, standing: string): void {
  standings.set(request.raw, standing);
}

/** Returns undefined for requests of a key, whose rights never change. */
export function standingOf(request: Pick<ReceivedRequest, 'raw'>): string | undefined {
  return standings.get(request.raw);
}

export function identityOf(request: Pick<ReceivedRequest, 'raw'>): RequestIdentity {
  return identities.get(request.raw) ?? unidentified;
}

/** The first fields of an access event: the event, and the caller with its address. */
export function accessEvent(event: string, request: ReceivedRequest) {
  return { event, request_id: request.id, client: clientAddress(request), ...identityOf(request) };
}

/**
 * The address of the client: the peer, or the value of `X-Forwarded-For` from trusted proxies (`QUARTERMASTER_TRUSTED_PROXIES`). A
 * value that is not an address is ignored.
 */
export function clientAddress(request: Pick<ReceivedRequest, 'ip' | 'raw'>): string {
  const address = isIP(request.ip) === 0 ? (request.raw.socket.remoteAddress ?? '') : request.ip;
  // Removes the prefix of an IPv4 peer on a socket for both address families.
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}
