import type { EgressResult } from '../../platform/outbound.ts';
import type { Broker, EgressPolicy } from './broker.ts';

/** A web page, or why it could not be fetched. */
export type FetchedPage =
  | {
      readonly kind: 'page';
      readonly bytes: Buffer;
      readonly extension: PageExtension;
      /** The charset of the answer, in lower case. */
      readonly charset?: string;
      /** The URL after the last redirect, without its query. */
      readonly finalUrl: string;
    }
  | { readonly kind: 'failed'; readonly code: PageFailureCode; readonly message: string };

export type PageExtension = 'html' | 'txt' | 'md' | 'pdf';
export type PageFailureCode =
  | 'page_refused'
  | 'page_unreachable'
  | 'page_status'
  | 'unsupported_content'
  | 'page_too_large'
  | 'time_limit';

export interface PageLimits {
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly maxRedirects: number;
}

export const defaultPageLimits: PageLimits = { maxBytes: 20 * 1024 * 1024, timeoutMs: 30_000, maxRedirects: 5 };

/** The accepted media types and their file extensions. */
const extensions: Readonly<Record<string, PageExtension>> = {
  'text/html': 'html',
  'application/xhtml+xml': 'html',
  'text/plain': 'txt',
  'text/markdown': 'md',
  'text/x-markdown': 'md',
  'application/pdf': 'pdf',
};

/**
 * Fetches a page for a web record. Only https, the default port and public addresses are allowed, for redirects too. Rejects only
 * when the signal aborts.
 */
export function fetchPage(broker: Broker, limits: PageLimits = defaultPageLimits) {
  const policy: EgressPolicy = {
    hosts: 'any',
    schemes: new Set(['https']),
    credentials: new Map(),
    inject: [],
    maxResponseBytes: limits.maxBytes,
    maxRedirects: limits.maxRedirects,
    timeoutMs: limits.timeoutMs,
  };
  const accept = 'text/html,application/xhtml+xml,text/plain,text/markdown,application/pdf;q=0.9,*/*;q=0.1';
  return async (url: string, signal: AbortSignal): Promise<FetchedPage> => {
    const result = await broker.send({ method: 'GET', url, headers: { accept } }, policy, signal);
    return result.kind === 'response' ? readPage(result) : failed(...reasonOf(result));
  };
}

type Answer = Extract<EgressResult, { kind: 'response' }>;

function readPage({ status, headers, body, finalUrl }: Answer): FetchedPage {
  if (status < 200 || status >= 300) return failed('page_status', `The page answered with status ${status}.`);
  const [type = '', ...parameters] = (headers['content-type'] ?? '')
    .split(';')
    .map((part) => part.trim().toLowerCase());
  const extension = Object.hasOwn(extensions, type) ? extensions[type] : undefined;
  if (extension === undefined) {
    const found = JSON.stringify(type.slice(0, 80));
    return failed('unsupported_content', `The page is ${found}; expected HTML, plain text, Markdown or PDF.`);
  }
  const charset = parameters
    .find((part) => part.startsWith('charset='))
    ?.slice(8)
    .replaceAll('"', '');
  return { kind: 'page', bytes: body, extension, finalUrl, ...(charset === undefined ? {} : { charset }) };
}

function reasonOf(result: Exclude<EgressResult, Answer>): [PageFailureCode, string] {
  switch (result.kind) {
    case 'credentials_rejected':
      throw new Error('A page must be fetched without credentials.');
    case 'refused':
      return ['page_refused', `The address may not be fetched: ${result.message}.`];
    case 'unreachable':
      return ['page_unreachable', `The page could not be fetched: ${result.message}.`];
    case 'too_large':
      return ['page_too_large', `The page could not be fetched: ${result.message}.`];
    case 'timed_out':
      return ['time_limit', `The page did not come within ${result.limitMs} ms.`];
  }
}

function failed(code: PageFailureCode, message: string): FetchedPage {
  return { kind: 'failed', code, message };
}
