import type { CredentialPlaces } from '@quartermaster/plugin-kit';
import { quoteText } from '../../../platform/quote-text.ts';
import type { Hop } from '../wire-request.ts';

export type CredentialPlace = CredentialPlaces['places'][number];

/** Sees every part of a request, decoded where its place has an encoding. */
export interface PartVisitor {
  /** A part that cannot be a place of credentials. */
  see(where: string, text: string | Uint8Array): void;
  /** A part that could be one. Returns the same text, or the one that replaces it. */
  fill(where: string, text: string, place: CredentialPlace): string;
}

/** The form of a place in commands and messages, such as `header:x-api-key`. */
export function placeText(place: CredentialPlace): string {
  return `${place.in}:${place.in === 'path' ? place.prefix : place.name}`;
}

/** Visits every part of a request, and returns the request with the filled places. */
export function mapParts(hop: Hop, visitor: PartVisitor, placeholders: Iterable<string>): Hop {
  visitor.see('the method', hop.method);
  visitor.see('the host', hop.url.host);
  const url = new URL(hop.url);
  url.pathname = mapPath(url.pathname, visitor, placeholders);
  url.search = mapPairs(url.search.slice(1), 'query', visitor);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(hop.headers)) {
    visitor.see('the name of a header', name);
    headers[name] = mapHeader(name, value, visitor);
  }
  return { ...hop, url, headers, body: mapBody(hop, visitor) };
}

/** The place in a path is a segment from its placeholder on. */
function mapPath(pathname: string, visitor: PartVisitor, placeholders: Iterable<string>): string {
  const starts = [...placeholders].map((one) => pathname.indexOf(one)).filter((at) => at >= 0);
  const prefix = pathname.slice(0, Math.min(...starts, pathname.length));
  const [segment = '', ...rest] = pathname.slice(prefix.length).split('/');
  visitor.see('the path', [prefix, ...rest].join('/'));
  const filled = segment === '' ? '' : visitor.fill('the path', segment, { in: 'path', prefix });
  return prefix + [filled, ...rest].join('/');
}

/** More pairs are seen together, so that the work stays small, and none of them is a place. */
const maxPairs = 1000;

/**
 * The pairs of a query or of a form. Pairs that stay the same keep their encoding, except in a form with a credential: a text that
 * is also JSON would show it to a third party that ignores the type of the body.
 */
function mapPairs(text: string, kind: 'query' | 'form', visitor: PartVisitor): string {
  if (text === '') return text;
  const pairs = text.split('&', maxPairs + 1);
  if (pairs.length > maxPairs) {
    visitor.see(`the ${kind}`, text);
    return text;
  }
  let isFilled = false;
  const mapped = pairs.map((pair) => {
    const [[name, value] = ['', '']] = new URLSearchParams(pair.replaceAll('?', '%3F'));
    visitor.see(`a name in the ${kind}`, name);
    const filled = visitor.fill(`${quoteText(name)} in the ${kind}`, value, { in: kind, name });
    isFilled ||= filled !== value;
    return { pair, isSame: filled === value, encoded: [name, filled].map(encode).join('=') };
  });
  return mapped
    .map(({ pair, isSame, encoded }) => (isSame && !(isFilled && kind === 'form') ? pair : encoded))
    .join('&');
}

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

const basic = /^(basic +)([A-Za-z0-9+/_=-]+)$/i;

function mapHeader(name: string, value: string, visitor: PartVisitor): string {
  const where = `the header ${quoteText(name)}`;
  const place = { in: 'header', name } as const;
  const [, scheme, encoded] = name === 'authorization' ? (basic.exec(value) ?? []) : [];
  if (scheme === undefined || encoded === undefined) return visitor.fill(where, value, place);
  const text = Buffer.from(encoded, 'base64').toString();
  const filled = visitor.fill(where, text, place);
  return filled === text ? value : scheme + Buffer.from(filled).toString('base64');
}

const formType = /^application\/x-www-form-urlencoded\b/i;

function mapBody({ headers, body }: Hop, visitor: PartVisitor): Hop['body'] {
  if (body === undefined) return body;
  if (!formType.test(headers['content-type'] ?? '')) {
    visitor.see('the body', body);
    return body;
  }
  const text = typeof body === 'string' ? body : Buffer.from(body).toString();
  const filled = mapPairs(text, 'form', visitor);
  return filled === text ? body : filled;
}
