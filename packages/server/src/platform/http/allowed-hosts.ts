import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { Problem } from '../problem.ts';
import type { App } from './app.ts';

export interface AllowedHostsOptions {
  /** The address on which the server listens. */
  readonly host: string;
  /** The URL under which clients reach the server; null when it has no other. */
  readonly publicUrl: string | null;
  /** Further host names. */
  readonly names: readonly string[];
  /** True when every request needs a key. Any Host is accepted then. */
  readonly keyRequired: boolean;
  /** Origins whose pages may call with a key. */
  readonly corsOrigins: readonly string[];
}

/** Returns the error for a Host or an Origin that is not allowed, or null when both are allowed. */
export type CheckSite = (headers: FastifyRequest['headers']) => Problem | null;

/**
 * Protects an address that needs no key from web pages. A page whose name resolves to this machine (DNS rebinding)
 * sends its own name as Host, and every page sends its Origin. Other programs send no Origin.
 */
export function createCheckSite(options: AllowedHostsOptions): CheckSite {
  const { host, publicUrl, names, keyRequired } = options;
  const own = [host, ...(publicUrl === null ? [] : [new URL(publicUrl).hostname]), ...names].map(inHeader);
  const allowed = new Set(['localhost', '127.0.0.1', '[::1]', ...own]);
  const corsOrigins = new Set(options.corsOrigins);
  // A server on all interfaces accepts every address of the machine as Host, because an address cannot be rebound.
  const anyAddress = host === '0.0.0.0' || host === '::';

  function knowsHost(header: string | undefined): boolean {
    const name = hostNameOf(header);
    return name !== null && (allowed.has(name) || (anyAddress && isAddress(name)));
  }
  function knowsOrigin(origin: string, authorization: string | undefined): boolean {
    if (authorization !== undefined && corsOrigins.has(origin)) return true;
    const url = URL.parse(origin);
    return url !== null && (url.protocol === 'http:' || url.protocol === 'https:') && allowed.has(url.hostname);
  }
  return ({ host: hostHeader, origin, authorization }) => {
    if (!keyRequired && !knowsHost(hostHeader)) return hostRefused();
    if (origin === undefined || knowsOrigin(origin, authorization)) return null;
    return originRefused();
  };
}

function hostRefused(): Problem {
  return new Problem(
    'PERMISSION_DENIED',
    'The Host header names a host that is not allowed without an API key. Add the name to QUARTERMASTER_MCP_HOSTS, or set QUARTERMASTER_PLUGINS_KEY=required.',
  );
}

function originRefused(): Problem {
  return new Problem(
    'PERMISSION_DENIED',
    'The Origin header names a site that is not allowed to call this address. Add its host name to QUARTERMASTER_MCP_HOSTS, or add its origin to QUARTERMASTER_CORS_ORIGINS and send an API key.',
  );
}

export interface SiteGuardOptions {
  readonly checkSite: CheckSite;
  /** Requests that arrived at the files address, which has authenticated them. */
  readonly mounted: { has(request: IncomingMessage): boolean };
}

/** The probes of load balancers are exempt. MCP applies the rule itself, because its errors have another form. */
const exempt = new Set([
  '/v1/health_check',
  '/v1/ready',
  '/v1/version',
  ...['/mcp', '/mcp/:bundle_id', '/mcp/collections/:collection_id'].flatMap((path) => [path, `${path}/`]),
]);

/** Applies the rule to every other path of an address that needs no key. */
export function guardSite(app: App, { checkSite, mounted }: SiteGuardOptions): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (exempt.has(request.routeOptions.url ?? '') || mounted.has(request.raw)) return done();
    return done(checkSite(request.headers) ?? undefined);
  });
}

/** Returns the host without the port in lower case, or null when the header contains no host. */
function hostNameOf(header: string | undefined): string | null {
  const parts = /^([a-z0-9._-]{1,255}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i.exec(header ?? '');
  return parts?.[1]?.toLowerCase() ?? null;
}

function inHeader(name: string): string {
  return isIP(name) === 6 ? `[${name}]` : name.toLowerCase();
}

function isAddress(name: string): boolean {
  return isIP(name.replace(/^\[|\]$/g, '')) !== 0;
}

/** Returns whether only programs of this machine can reach the host. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);
}
