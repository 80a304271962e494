import { withoutTrailingSlashes } from '@quartermaster/contract';
import { isJson, type OpenApiDocument, textOf } from './document.ts';

/** The servers of a document, of which requests go to the first that serves real data. */
export interface Servers {
  /** The base URL of the operations without servers of their own, without a trailing slash; undefined when there is none. */
  readonly base: string | undefined;
  /** @param levels the `servers` of the operation and of its path */
  find(levels: readonly unknown[]): { readonly url: string } | { readonly reason: string };
  /** Sentences about the choice. */
  readonly notes: readonly string[];
}

export interface ServerOptions {
  /** The user's URL. It is the base of relative URLs and replaces those of the document. */
  readonly server?: string | undefined;
  /** Where the document comes from. Relative URLs refer to it. */
  readonly address?: string | undefined;
}

export function createServers(document: OpenApiDocument, { server, address }: ServerOptions): Servers {
  const read = (list: unknown) =>
    (Array.isArray(list) ? list : []).slice(0, 100).flatMap((one) => addressesOf(one, server ?? address));
  const all = read(document.root.servers);
  const relative = all.find(({ isRelative }) => isRelative);
  const configured = server === undefined ? undefined : trimmed(relative?.url ?? server);
  const chosen = configured ?? choose(all);
  const hosts = new Set(all.map(({ url }) => new URL(url).host));

  function find(levels: readonly unknown[]): { url: string } | { reason: string } {
    const own = read(levels.find((servers) => Array.isArray(servers) && servers.length > 0));
    const url = choose(own);
    // An operation with a host of its own, such as one for uploads, keeps it.
    const isOther = url !== undefined && hosts.size > 0 && !hosts.has(new URL(url).host);
    if (url !== undefined && (configured === undefined || isOther)) return { url };
    if (own.length > 0 && configured === undefined) return { reason: reasonFor(own) };
    return chosen === undefined ? { reason: reasonFor(all) } : { url: chosen };
  }
  const others = [...new Set(all.map(({ url }) => trimmed(url)))].filter((url) => url !== chosen);
  const notes =
    chosen === undefined || others.length === 0
      ? []
      : [
          `Requests go to ${chosen}. The document also names ${listOf(others)}. To use another one, enter it as the server of the import.`,
        ];
  return { base: chosen, find, notes };
}

interface Address {
  readonly url: string;
  readonly isRelative: boolean;
  /** `test`: a sandbox or a demo. `placeholder`: a name that is no host of the API. */
  readonly kind: 'live' | 'test' | 'placeholder';
}

function choose(all: readonly Address[]): string | undefined {
  const live = all.filter(({ kind }) => kind === 'live');
  const secure = live.filter(({ url }) => url.startsWith('https:'));
  const found = secure.find(({ url }) => url.startsWith('https://api.')) ?? secure[0] ?? live[0];
  return found === undefined ? undefined : trimmed(found.url);
}

function reasonFor(all: readonly Address[]): string {
  if (all.length === 0) return 'the document has no absolute server URL; enter the server of the import';
  const isTest = all.some(({ kind }) => kind === 'test');
  const kind = isTest ? 'only servers for tests' : 'no server of the API';
  return `the document names ${kind}: ${listOf(all.map(({ url }) => trimmed(url)))}; enter the server of the import`;
}

function listOf(urls: readonly string[]): string {
  const more = urls.length - 5;
  return `${urls.slice(0, 5).join(', ')}${more > 0 ? ` and ${more} more` : ''}`.slice(0, 500);
}

function addressesOf(server: unknown, base: string | undefined): Address[] {
  if (!isJson(server)) return [];
  const given = textOf(server.url).replace(/\{([^{}]+)\}/g, (whole, name: string) => {
    const variable: unknown = Reflect.get(Object(server.variables), name);
    if (!isJson(variable)) return whole;
    const { default: preset, enum: choices } = variable;
    const values = [preset ?? [], Array.isArray(choices) ? choices : []].flat().map(String);
    return values.includes('https') ? 'https' : (values.find((value) => !isTestWord(value)) ?? values[0] ?? '');
  });
  if (given === '' || /[{}]/.test(given)) return [];
  const text = given.startsWith('//') ? `https:${given}` : given;
  const isRelative = !URL.canParse(text);
  const from = base !== undefined && !base.endsWith('/') ? `${base}/` : base;
  if (isRelative && (from === undefined || !URL.canParse(text, from))) return [];
  const url = isRelative ? new URL(text, from) : new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return [];
  return [{ url: url.href, isRelative, kind: kindOf(url, textOf(server.description)) }];
}

const isTestWord = (word: string) =>
  /^(?:sandbox|demo|stag(?:e|ing)|test(?:ing)?|dev(?:elopment)?|mock|qa|uat)$/i.test(word);

/** Names that are reserved (RFC 2606, RFC 6761), and those that documents use in the place of the name of an account. */
const reserved = /(?:^|\.)(?:example(?:\.(?:com|net|org))?|test|invalid|local|localhost|internal)$/;
const placeholder =
  /^(?:example|subdomain|domain|tenant|instance|unknown|your|my|yourcompany|mycompany|yourdomain|foo)$/;

function kindOf({ hostname, pathname }: URL, description: string): Address['kind'] {
  const labels = hostname.split('.');
  const isAddress = /^(?:\[|127\.|0\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.)/.test(hostname);
  if (labels.length < 2 || isAddress || reserved.test(hostname)) return 'placeholder';
  const words = labels.slice(0, -2).flatMap((label) => label.split(/[-_]/));
  if (words.some((word) => placeholder.test(word))) return 'placeholder';
  const firstWord = /^[a-z]+/i.exec(description)?.[0] ?? '';
  const folder = pathname.split('/')[1] ?? '';
  return [...words, folder, firstWord].some(isTestWord) ? 'test' : 'live';
}

function trimmed(address: string): string {
  const { origin, pathname } = new URL(address);
  return `${origin}${withoutTrailingSlashes(pathname)}`;
}
