import type { OauthScope } from '@quartermaster/contract';
import { isLoopback } from '../../platform/http/allowed-hosts.ts';

export type AddressName = 'files' | 'plugins';

export interface ResourcesDeps {
  /** The URLs under which clients reach the addresses; null without a setting. */
  readonly publicUrls: Readonly<Record<AddressName, string | null>>;
  /** The URL of the console as browsers reach it; '' before the files address listens, and in a process without it. */
  readonly consoleUrl: () => string;
}

/** The MCP servers of both addresses, as OAuth resources. Their identifier is the URL that the person gave to the application. */
export interface Resources {
  /** The issuer; null while nobody can sign in: without https, except on this machine. */
  issuer(): string | null;
  /** The URL under which the client reached an address. An unknown Host gives the public URL. */
  baseOf(address: AddressName, host: string | undefined): string;
  /** Reads the URL of an MCP server; null for other URLs. */
  read(text: string): Resource | null;
}

export interface Resource {
  /** The URL without query and trailing slash. */
  readonly id: string;
  /** The scopes for what the server offers. An application without own wishes asks for them; the person reduces them. */
  readonly scopes: readonly OauthScope[];
}

const mcpPath = /^\/mcp(?:\/(?:collections\/)?[a-z0-9_]{1,64})?$/;

export function createResources({ publicUrls, consoleUrl }: ResourcesDeps): Resources {
  const own = (address: AddressName) => publicUrls[address]?.replace(/\/$/, '') ?? null;
  function isOwn(base: string): boolean {
    if (base === own('files') || base === own('plugins')) return true;
    const url = URL.parse(base);
    // Without public URLs, each name of this machine leads to the service.
    return url !== null && url.protocol === 'http:' && isLoopback(url.hostname) && url.pathname === '/' && isLocal();
  }
  const isLocal = () => [own('files'), own('plugins')].some((url) => url === null || isLoopback(new URL(url).hostname));

  return {
    issuer: () => {
      const url = URL.parse(own('files') ?? consoleUrl());
      if (url === null || (url.protocol !== 'https:' && !isLoopback(url.hostname))) return null;
      return url.href.replace(/\/$/, '');
    },
    baseOf: (address, host) => {
      const base = own(address);
      const named = URL.parse(`http://${host ?? ''}`);
      const isNamed =
        named !== null && isLoopback(named.hostname) && (base === null || isLoopback(new URL(base).hostname));
      if (isNamed) return named.origin;
      return base ?? (address === 'files' ? consoleUrl() : '');
    },
    read: (text) => {
      if (/[#\\@]/.test(text) || text.length > 2048) return null;
      const url = URL.parse(text);
      if (url === null) return null;
      const id = url.origin + url.pathname.replace(/\/$/, '');
      const base = [own('files'), own('plugins'), url.origin].find(
        (own) => own !== null && id.startsWith(`${own}/mcp`) && isOwn(own),
      );
      const path = base == null ? '' : id.slice(base.length);
      return mcpPath.test(path) ? { id, scopes: scopesOf(path) } : null;
    },
  };
}

/** Whether tokens for a server are accepted at a URL: its own, and those below it. */
export function covers(resource: string, requested: string): boolean {
  return requested === resource || requested.startsWith(`${resource}/`);
}

function scopesOf(path: string): readonly OauthScope[] {
  if (path.startsWith('/mcp/collections/')) return ['collections:read'];
  return path === '/mcp' ? ['collections:read', 'plugins'] : ['plugins'];
}
