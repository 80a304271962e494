import { isHeaderValue } from '../header-text.ts';
import type { Redactor } from '../redact/redactor.ts';
import { isAtHost } from '../target.ts';
import type { Hop } from '../wire-request.ts';
import type { PlaceholderPolicy } from './placeholder-policy.ts';
import { type CredentialPlace, mapParts, placeText } from './request-parts.ts';

type Placed = Hop | { readonly refused: string };

/**
 * Replaces the placeholders in the declared places, for hosts that may get credentials. A request that holds a placeholder anywhere
 * else is refused. The hop itself stays as it is, for logs, retries and redirects.
 */
export function placeCredentials(hop: Hop, policy: PlaceholderPolicy): Placed {
  const { secrets, finder } = policy;
  const notSearched = whyNotSearched(hop);
  if (notSearched !== null) return { refused: notSearched };
  const isHome = mayGetCredentials(hop.url, policy);
  const declared = new Set(policy.places.map(placeText));
  let refused: string | undefined;
  const refuse = (where: string, why: string) => {
    refused ??= `the placeholder of a credential is in ${where}, ${why}`;
  };
  let isPlaced = false;
  const placed = mapParts(
    hop,
    {
      see(where, text) {
        if (finder.isIn(text))
          refuse(
            where,
            'where no credential can be sent: only in headers, members of the query or of a form, and the path',
          );
      },
      fill(where, text, place) {
        let [filled, rest] = [text, text];
        for (const [placeholder, secret] of secrets) {
          const value = place.in === 'path' ? encodeURIComponent(secret.reveal().toWellFormed()) : secret.reveal();
          filled = filled.replaceAll(placeholder, () => value);
          rest = rest.replaceAll(placeholder, ' ');
        }
        if (finder.isIn(rest)) refuse(where, 'encoded, reversed or cut, so that it cannot be replaced');
        else if (filled !== text) {
          const command = (flag: string) =>
            `to allow this, run: quartermaster bundle update ${policy.bundleId} ${flag}`;
          if (!isHome)
            refuse(
              where,
              `and ${hop.url.host} may not get credentials; ${command(`--add-credential-hosts ${hop.url.host}`)}`,
            );
          else if (!declared.has(placeText(place)))
            refuse(where, `which is no place of credentials; ${command(`--add-places ${inShell(place)}`)}`);
          else if (place.in === 'path' && /^\.*$/.test(filled)) refuse(where, 'where its value cannot be sent');
          isPlaced = true;
        }
        return filled;
      },
    },
    secrets.keys(),
  );
  if (refused !== undefined) return { refused };
  if (!Object.values(placed.headers).every(isHeaderValue))
    return { refused: 'a credential cannot be sent in a header' };
  if (isPlaced) policy.onPlaced();
  return placed;
}

/** Removes the credentials from a redirect to a host that may not get them. */
export function afterRedirect(hop: Hop, policy: PlaceholderPolicy): Hop {
  if (mayGetCredentials(hop.url, policy)) return hop;
  const names = new Set(policy.places.flatMap((place) => (place.in === 'header' ? [place.name] : [])));
  const headers = Object.entries(hop.headers).filter(([name, value]) => !names.has(name) || !policy.finder.isIn(value));
  return { ...hop, headers: Object.fromEntries(headers) };
}

/** Whether an upstream put a secret into the URL of a redirect to a host that may not get it. */
export function leaksSecret(url: URL, policy: PlaceholderPolicy, redactor: Redactor): boolean {
  return !mayGetCredentials(url, policy) && redactor.text(url.href) !== url.href;
}

function mayGetCredentials(url: URL, { hosts }: Pick<PlaceholderPolicy, 'hosts'>): boolean {
  return [...hosts].some((host) => isAtHost(url, host));
}

/** The name comes from the handler, so only harmless ones become part of a command. */
function inShell(place: CredentialPlace): string {
  const text = placeText(place);
  return /^[\w:/.~-]{1,160}$/.test(text) ? text : `${place.in}:NAME`;
}

/** The longest body that is searched in all encodings. */
const maxSearchedBytes = 1024 * 1024;
const maxHeaders = 200;
const textType = /^(?:text\/|application\/(?:[\w.+-]*\+)?(?:json|xml|javascript|x-www-form-urlencoded)\b)/i;

/** Why a body cannot be searched for placeholders; null when it can. */
function whyNotSearched({ headers, body }: Hop): string | null {
  if (Object.keys(headers).length > maxHeaders) return `the request has more than ${maxHeaders} headers`;
  if (body === undefined || body.length === 0) return null;
  const isEncoded = /[^\s,]/.test((headers['content-encoding'] ?? '').replaceAll('identity', ''));
  if (isEncoded || isCompressed(body))
    return 'a compressed body could hide the placeholder of a credential; send it uncompressed';
  const isText = typeof body === 'string' || textType.test(headers['content-type'] ?? '');
  if (!isText || body.length <= maxSearchedBytes) return null;
  return `a text of more than ${maxSearchedBytes} bytes could hide the placeholder of a credential; send it in parts`;
}

/** The first bytes of gzip, zstd, zlib, bzip2 and xz. */
const magicNumbers = ['1f8b', '28b52ffd', '7801', '785e', '789c', '78da', '425a68', 'fd377a585a'];

function isCompressed(body: string | Uint8Array): boolean {
  if (typeof body === 'string') return false;
  const start = Buffer.from(body.subarray(0, 8)).toString('hex');
  return magicNumbers.some((magic) => start.startsWith(magic));
}
