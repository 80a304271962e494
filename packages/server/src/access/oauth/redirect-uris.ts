import type { ConsentRequest } from '@quartermaster/contract';
import { isLoopback } from '../../platform/http/allowed-hosts.ts';

/** The maximum number of redirect URIs of an application, and of characters of each. */
export const mostRedirectUris = 20;
const longestUri = 500;

/**
 * Schemes without a dot that known applications register. Other programs use a reversed domain (RFC 8252 §7.1), because browsers and
 * operating systems interpret many short names themselves.
 */
const knownSchemes: ReadonlySet<string> = new Set(['claude', 'cursor', 'vscode', 'vscode-insiders', 'windsurf']);

/**
 * Whether a code may be sent to a URI: `https` on any host, `http` on a loopback host (RFC 8252 §7.3), or the own scheme of a
 * program. Fragments, user names, placeholders in the host and characters that parsers read differently are refused.
 */
export function isRedirectUri(text: unknown): text is string {
  if (typeof text !== 'string' || text.length > longestUri || !uriPattern.test(text)) return false;
  const url = URL.parse(text);
  if (url === null || hasDotSegments(text)) return false;
  if (url.protocol === 'https:') return true;
  if (url.protocol === 'http:') return isLoopback(url.hostname);
  const scheme = url.protocol.slice(0, -1);
  return scheme.includes('.') || knownSchemes.has(scheme);
}

/** A scheme, a host that is not empty, and a rest without fragment. */
const uriPattern = /^[a-z][a-z0-9+.-]*:\/\/[\w.:[\]-]+(?:[/?][^\s#\\@"<>^`{|}]*)?$/;

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

/** The place to which the browser returns, for people: a host, a program that listens on this machine, or the scheme of a program. */
export function describeRedirect(uri: string): Pick<ConsentRequest, 'redirect_to' | 'redirect_kind'> {
  const url = URL.parse(uri);
  const { protocol = '', host = '' } = url ?? {};
  if (protocol === 'https:') return { redirect_to: host, redirect_kind: 'site' };
  if (protocol === 'http:') return { redirect_to: host, redirect_kind: 'loopback' };
  return { redirect_to: protocol, redirect_kind: 'program' };
}
