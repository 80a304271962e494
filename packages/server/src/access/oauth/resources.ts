import type { OauthScope } from '@quartermaster/contract';
import { isLoopback } from '../../platform/http/allowed-hosts.ts';

export type AddressName = 'files' | 'plugins';

export interface ResourcesDeps {
  /** The URLs under which clients reach the addresses; null without a setting. */
  readonly publicUrls: Readonly<Record<AddressName, string | null>>;
  /** The URLs on which this process listens for an address, the preferred one first. Empty before, and for one that it does not serve. */
  readonly urlsOf: (address: AddressName) => readonly string[];
}

/**
 * The MCP servers of both addresses, as OAuth resources. Their identifier is the URL that the person gave to the application. It begins
 * with a public URL or, without one, with a name of this machine and the port on which this process listens.
 */
export interface Resources {
  /** The issuer; null while nobody can sign in: without https, except on this machine. */
  issuer(): string | null;
  /** The URL under which the client reached an address. An unknown Host gives the public URL. */
  baseOf(address: AddressName, host: string | undefined): string;
  /** Reads the URL of an MCP server; null for other URLs. */
  read(text: string): Resource | null;
  /** Whether an address accepts tokens for a server at a path: at the path of the server, and below it. Host decides nothing. */
  accepts(address: AddressName, resource: string, path: string): boolean;
}

export interface Resource {
  /** The URL without query and trailing slash. */
  readonly id: string;
  /** The scopes for what the server offers. An application without own wishes asks for them; the person reduces them. */
  readonly scopes: readonly OauthScope[];
}

const mcpPath = /^\/mcp(?:\/(?:collections\/)?[a-z0-9_]{1,64})?$/;

export function createResources({ publicUrls, urlsOf }: ResourcesDeps): Resources {
  const own = (address: AddressName) => publicUrls[address]?.replace(/\/$/, '') ?? null;
  /** The URLs of an address. Programs of this machine use its port, unless the address has a public URL of another machine. */
  function basesOf(address: AddressName): string[] {
    const base = own(address);
    if (base !== null && !isLoopback(new URL(base).hostname)) return [base];
    const local = urlsOf(address).filter((url) => isLoopback(new URL(url).hostname));
    return [base ?? [], local, local.map(asLocalhost)].flat();
  }
  return {
    issuer: () => {
      const url = URL.parse(own('files') ?? urlsOf('files')[0] ?? '');
      if (url === null || (url.protocol !== 'https:' && !isLoopback(url.hostname))) return null;
      return url.href.replace(/\/$/, '');
    },
    baseOf: (address, host) => {
      const bases = basesOf(address);
      return bases.find((base) => base === `http://${host}`) ?? bases[0] ?? urlsOf(address)[0] ?? '';
    },
    read: (text) => {
      if (/[#\\@]/.test(text) || text.length > 2048) return null;
      const url = URL.parse(text);
      if (url === null) return null;
      const id = url.origin + url.pathname.replace(/\/$/, '');
      for (const base of [...basesOf('files'), ...basesOf('plugins')]) {
        const path = id.startsWith(base) ? id.slice(base.length) : '';
        if (mcpPath.test(path)) return { id, scopes: scopesOf(path) };
      }
      return null;
    },
    accepts: (address, resource, path) => basesOf(address).some((base) => `${base}${path}/`.startsWith(`${resource}/`)),
  };
}

function asLocalhost(url: string): string {
  return Object.assign(new URL(url), { hostname: 'localhost' }).origin;
}

function scopesOf(path: string): readonly OauthScope[] {
  if (path.startsWith('/mcp/collections/')) return ['collections:read'];
  return path === '/mcp' ? ['collections:read', 'plugins'] : ['plugins'];
}
