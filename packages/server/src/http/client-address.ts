import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';

/**
 * The address of the client: the peer's, or what the trusted proxies say in `X-Forwarded-For`
 * (`QUARTERMASTER_TRUSTED_PROXIES`). A text that is no address is ignored in favour of the peer's.
 */
export function clientAddress(request: FastifyRequest): string {
  const address = isIP(request.ip) === 0 ? (request.socket.remoteAddress ?? '') : request.ip;
  // An IPv4 peer of a socket that accepts both families.
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}
