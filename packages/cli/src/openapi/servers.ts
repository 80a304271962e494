import { withoutTrailingSlashes } from '@quartermaster/contract';
import { isJson, type OpenApiDocument, textOf } from './document.ts';

/**
 * The address in front of an operation's path: of the operation, else of its path, else of the document; without a slash
 * at its end. Variables take their defaults, `https` where there is a choice.
 * @param given what the user names; a relative address starts there, and it replaces `localhost` and nothing
 * @returns undefined when there is no absolute address
 */
export function findServer(
  document: OpenApiDocument,
  levels: readonly unknown[],
  given: string | undefined,
): string | undefined {
  const lists = [...levels, document.root.servers];
  const list = lists.find((servers) => Array.isArray(servers) && servers.length > 0);
  const addresses = (Array.isArray(list) ? list : []).map(addressOf).filter((address) => address !== '');
  const [first = ''] = [...addresses.filter((address) => address.startsWith('https:')), ...addresses];
  if (given === undefined) return URL.canParse(first) ? trimmed(first) : undefined;
  return trimmed(URL.canParse(first) ? given : new URL(first, given.endsWith('/') ? given : `${given}/`).href);
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
