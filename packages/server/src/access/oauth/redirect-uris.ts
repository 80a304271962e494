import { isLoopback } from '../../platform/http/allowed-hosts.ts';

/** The maximum number of redirect URIs of an application, and of characters of each. */
export const mostRedirectUris = 20;
const longestUri = 500;

/** Schemes that a browser itself interprets, so that a code would not reach the application. */
const forbiddenSchemes: ReadonlySet<string> = new Set(
  'javascript data file blob about vbscript ftp ws wss http view-source filesystem chrome edge'.split(' '),
);

/**
 * Whether a code may be sent to a URI: `https` on any host, `http` on a loopback host (RFC 8252 §7.3), or the own scheme of a
 * program. Fragments, user names and characters that parsers read differently are refused.
 */
export function isRedirectUri(text: unknown): text is string {
  if (typeof text !== 'string' || text.length > longestUri || !/^[a-z][a-z0-9+.-]*:\/\/[!-~]+$/.test(text))
    return false;
  if (/[#\\@"<>^`{|}]/.test(text)) return false;
  const url = URL.parse(text);
  if (url === null || url.username !== '' || url.password !== '') return false;
  if (hasDotSegments(text)) return false;
  if (url.protocol === 'https:') return url.hostname.length > 0;
  if (url.protocol === 'http:') return isLoopback(url.hostname);
  return !forbiddenSchemes.has(url.protocol.slice(0, -1));
}

function hasDotSegments(uri: string): boolean {
  const segments = uri.split(/[/?]/).map((part) => part.replaceAll(/%2e/gi, '.'));
  return segments.includes('.') || segments.includes('..');
}

/** Adds `127.0.0.1` for each URI with `localhost`, and the reverse, because some clients register one and use the other. */
export function withLoopbackTwins(uris: readonly string[]): string[] {
  const twins = uris.flatMap((uri) => {
    const [, host = '', rest = ''] = /^http:\/\/(localhost|127\.0\.0\.1)((?::\d+)?(?:\/.*)?)$/.exec(uri) ?? [];
    return host === '' ? [] : [`http://${host === 'localhost' ? '127.0.0.1' : 'localhost'}${rest}`];
  });
  return [...new Set([...uris, ...twins])];
}

/** The place to which the browser returns, for people: a host, or the scheme of a program. */
export function describeRedirect(uri: string): { readonly host: string; readonly isLoopback: boolean } {
  const url = URL.parse(uri);
  if (url === null) return { host: '', isLoopback: false };
  const isWeb = url.protocol === 'https:' || url.protocol === 'http:';
  return { host: isWeb ? url.host : url.protocol.slice(0, -1), isLoopback: url.protocol === 'http:' };
}
