import { quoteText } from '../../platform/quote-text.ts';
import { bareHost, literalAddress } from './addresses.ts';
import type { EgressPolicy } from './broker.ts';

/** The destination of one hop: the declared address, and the address to connect to. */
export interface Target {
  /** The declared URL. Redirects and credentials are checked against it. */
  readonly url: URL;
  /** The origin to connect to: the declared one, or the operator's override. */
  readonly dialOrigin: string;
  /** Whether the operator named the target, so that its address is not checked. */
  readonly trusted: boolean;
}

export interface TargetRules {
  readonly overrides: ReadonlyMap<string, string>;
  readonly isAllowed: (address: string) => boolean;
}

type TargetPolicy = Pick<EgressPolicy, 'hosts' | 'hostsBy' | 'bundleId' | 'schemes'>;
type Judged = { readonly target: Target } | { readonly refused: string };

/** Checks a URL before any lookup or connection: scheme, declared host, port and literal address. */
export function judgeTarget(url: URL, policy: TargetPolicy, rules: TargetRules): Judged {
  const refused = refusalOf(url, policy);
  if (refused !== null) return { refused };
  const override = rules.overrides.get(url.origin);
  if (override !== undefined) return { target: { url, dialOrigin: override, trusted: true } };
  const literal = literalAddress(url.hostname);
  if (literal !== null && !rules.isAllowed(literal)) {
    return { refused: `${quoteText(url.hostname, longestHost)} is not an address of the public internet` };
  }
  return { target: { url, dialOrigin: url.origin, trusted: false } };
}

/** The maximum number of characters of a DNS name. */
const longestHost = 253;

function refusalOf(url: URL, policy: TargetPolicy): string | null {
  const scheme = url.protocol.slice(0, -1);
  if (!isScheme(scheme) || !policy.schemes.has(scheme)) return `the scheme ${quoteText(scheme)} is not allowed here`;
  if (url.username !== '' || url.password !== '') return 'a URL may not hold a user name or a password';
  if (policy.hosts === 'any') {
    return url.port === '' ? null : `port ${url.port} is not allowed here; only the default port is`;
  }
  const { hosts } = policy;
  if (namesOf(url).some((name) => hosts.has(name))) return null;
  const host = quoteText(url.host, longestHost);
  if (policy.hostsBy !== 'piece') return `the host ${host} ${notAllowed[policy.hostsBy ?? 'bundle']}`;
  // The name comes from the piece, so only a harmless one becomes part of a command.
  const named = /^[a-z0-9.:-]{1,253}$/.test(url.host) ? url.host : 'HOST';
  const command = `quartermaster bundle update ${policy.bundleId ?? 'BUNDLE'} --add-hosts ${named}`;
  return `the host ${host} is not one that the piece may call; to allow it, run: ${command}`;
}

const notAllowed = {
  bundle: 'is not one the bundle declares',
  operator: 'is not one that the operator allows this bundle, see QUARTERMASTER_BUNDLE_HOSTS',
  command: 'is not one that this command may reach; allow it with --allow-host',
  registry: 'is neither the registry nor the host that it names for the package',
} as const;

/** Whether a URL points to a declared host, `name` or `name:port`. */
export function isAtHost(url: URL, host: string): boolean {
  return namesOf(url).includes(host.toLowerCase());
}

/** The names under which a declaration may list the host of a URL. */
function namesOf(url: URL): string[] {
  const host = bareHost(url.hostname);
  const port = url.port === '' ? defaultPorts[url.protocol === 'https:' ? 'https' : 'http'] : url.port;
  return url.port === '' ? [`${host}:${port}`, host] : [`${host}:${port}`];
}

const defaultPorts = { https: '443', http: '80' } as const;

function isScheme(scheme: string): scheme is 'https' | 'http' {
  return scheme === 'https' || scheme === 'http';
}
