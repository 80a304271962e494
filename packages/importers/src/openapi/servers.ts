import { withoutTrailingSlashes } from '@quartermaster/contract';
import { isJson, type OpenApiDocument, textOf } from './document.ts';

/**
 * Finds the base URL of an operation: its own, otherwise that of its path, otherwise that of the document; without a
 * trailing slash. Variables take their defaults, and `https` is preferred.
 * @param given the user's URL; it is the base of relative URLs and replaces `localhost` and missing ones
 * @returns undefined when there is no absolute URL
 */
export function findServer(
  document: OpenApiDocument,
  levels: readonly unknown[],
  configured: string | undefined,
): string | undefined {
  const lists = [...levels, document.root.servers];
  const list = lists.find((servers) => Array.isArray(servers) && servers.length > 0);
  const addresses = (Array.isArray(list) ? list : []).map(addressOf).filter((address) => address !== '');
  const [first = ''] = [...addresses.filter((address) => address.startsWith('https:')), ...addresses];
  if (configured === undefined) return URL.canParse(first) ? trimmed(first) : undefined;
  return trimmed(
    URL.canParse(first) ? configured : new URL(first, configured.endsWith('/') ? configured : `${configured}/`).href,
  );
}

function addressOf(server: unknown): string {
  if (!isJson(server)) return '';
  return textOf(server.url).replace(/\{([^{}]+)\}/g, (whole, name: string) => {
    const variable: unknown = Reflect.get(Object(server.variables), name);
    if (!isJson(variable)) return whole;
    const values = Array.isArray(variable.enum) ? variable.enum.map(String) : [];
    return values.includes('https') ? 'https' : String(variable.default ?? values[0] ?? '');
  });
}

function trimmed(address: string): string {
  const { origin, pathname } = new URL(address);
  return `${origin}${withoutTrailingSlashes(pathname)}`;
}
