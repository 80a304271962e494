import type { Clock } from '../../platform/clock.ts';
import { acceptedEncodings } from './decode.ts';
import type { WireRequest } from './exchange.ts';

import { withJsonMembers } from './json-body.ts';
import type { Injected } from './signing/inject.ts';
import type { Signer } from './signing/signing.ts';

/** One request in a chain of redirects. */
export interface Hop {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
}

export interface WireRules {
  readonly userAgent: string;
  /** The origin to connect to. Its host is the `Host` header. */
  readonly dialOrigin: string;
  readonly clock: Clock;
}

/** Builds the request and adds the credentials; no other function adds them. They replace values of the request with the same name. */
export function wireRequest(
  hop: Hop,
  injected: Injected | null,
  rules: WireRules,
): WireRequest | { readonly refused: string } {
  const headers = { 'user-agent': rules.userAgent, accept: '*/*', ...hop.headers, ...injected?.headers };
  const encoded = { ...headers, 'accept-encoding': acceptedEncodings };
  const { pathname, search } = hop.url;
  if (injected === null) return { method: hop.method, path: pathname + search, headers: encoded, body: hop.body };
  const content = withJson(withFormFields(hop, injected.form), hop, injected.json);
  if ('refused' in content) return content;
  const unsigned = {
    method: hop.method,
    path: `${pathname}${withCredentials(search, injected.query)}`,
    headers: { ...encoded, ...content.headers },
    body: content.body,
  };
  return injected.signers.reduce<WireRequest>((request, signer) => signed(request, signer, rules), unsigned);
}

function signed(request: WireRequest, { sign, queryNames }: Signer, { dialOrigin, clock }: WireRules): WireRequest {
  const [path = '', ...rest] = request.path.split('?');
  const query = withoutNames(rest.join('?'), new Set(queryNames));
  const { method, headers, body } = request;
  const { host } = new URL(dialOrigin);
  const signature = sign({ method, host, path, query, headers, body }, clock.now());
  const search = withQuery(query === '' ? '' : `?${query}`, signature.query);
  return { method, path: `${path}${search}`, headers: { ...headers, ...signature.headers }, body };
}

/** Appends pairs to a search string. Empty when there are no pairs at all. */
export function withQuery(search: string, pairs: ReadonlyArray<readonly [string, string]>): string {
  const encoded = pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`);
  const all = [...(search === '' ? [] : [search.slice(1)]), ...encoded];
  return all.length === 0 ? '' : `?${all.join('&')}`;
}

/** Adds the pairs of the credentials and removes pairs of the request with the same names. */
function withCredentials(search: string, query: Injected['query']): string {
  if (query.length === 0) return search;
  const ownQuery = withoutNames(search.slice(1), new Set(query.map(([name]) => name)));
  return withQuery(ownQuery === '' ? '' : `?${ownQuery}`, query);
}

function withoutNames(query: string, names: ReadonlySet<string>): string {
  if (names.size === 0) return query;
  return query
    .split('&')
    .filter((pair) => pair !== '' && ![...new URLSearchParams(pair).keys()].some((name) => names.has(name)))
    .join('&');
}

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** Adds fields to a form body in the same way. Other bodies are sent unchanged. */
function withFormFields({ body, headers }: Hop, form: Injected['form']): Hop['body'] {
  const isForm = headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true;
  if (form.length === 0 || !isForm || typeof body !== 'string') return body;
  return withCredentials(`?${body}`, form).slice(1);
}

const methodsWithBody = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
const jsonType = /^application\/(?:[a-z0-9.+-]+\+)?json\b/i;

interface Content {
  readonly body: Hop['body'];
  readonly headers?: Readonly<Record<string, string>>;
}

/** Adds members to a JSON body. A request that may have a body but has none gets one; other bodies are sent unchanged. */
function withJson(body: Hop['body'], hop: Hop, json: Injected['json']): Content | { readonly refused: string } {
  if (json.length === 0 || !methodsWithBody.has(hop.method)) return { body };
  const type = hop.headers['content-type'];
  const isEmpty = body === undefined || body.length === 0;
  if (isEmpty ? type !== undefined && !jsonType.test(type) : !jsonType.test(type ?? '')) return { body };
  const text = isEmpty ? '' : typeof body === 'string' ? body : Buffer.from(body).toString();
  const withMembers = withJsonMembers(text, json);
  if (withMembers === null)
    return { refused: 'the credential cannot be added to the body, because the body is not a JSON object' };
  return { body: withMembers, headers: { 'content-type': type ?? 'application/json' } };
}
