import { isIP } from 'node:net';
import { localhostAllowedHostnames, validateHostHeader, validateOriginHeader } from '@modelcontextprotocol/server';

export interface AllowedHostsOptions {
  /** Address the server listens on. */
  readonly host: string;
  /** Address under which clients see it, null when it has no other. */
  readonly publicUrl: string | null;
  /** Further names. */
  readonly names: readonly string[];
}

/** What is wrong with where a request says it was sent to and comes from; null when nothing is. */
export type CheckHosts = (host: string | undefined, origin: string | undefined) => string | null;

/**
 * Keeps web pages out: a page whose name is made to resolve to this machine (DNS rebinding) sends its own name as
 * Host, and every page sends its Origin. Programs send no Origin.
 */
export function createCheckHosts({ host, publicUrl, names }: AllowedHostsOptions): CheckHosts {
  const own = [host, ...(publicUrl === null ? [] : [new URL(publicUrl).hostname]), ...names].map(inHeader);
  const allowed = [...localhostAllowedHostnames(), ...own];
  // Listening on every interface, it answers to every address of the machine; an address cannot be rebound.
  const anyAddress = host === '0.0.0.0' || host === '::';
  return (hostHeader, originHeader) => {
    const target = validateHostHeader(hostHeader, allowed);
    if (!target.ok && !(anyAddress && isAddress(target.hostname))) {
      return 'The Host header names a host that this service does not answer to; QUARTERMASTER_MCP_HOSTS adds names.';
    }
    if (validateOriginHeader(originHeader, allowed).ok) return null;
    return 'The Origin header names a site that may not call this service; QUARTERMASTER_MCP_HOSTS adds names.';
  };
}

function inHeader(name: string): string {
  return isIP(name) === 6 ? `[${name}]` : name.toLowerCase();
}

function isAddress(hostname: string | undefined): boolean {
  return hostname !== undefined && isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
}
