import { Readable } from 'node:stream';
import type { ByteRange } from './blob-store.ts';
import { attachment } from './content-disposition.ts';
import type { DownloadOrder } from './download-order.ts';
import {
  checkLength,
  type ExpectedContent,
  openStored,
  readVerified,
  type VerifiedContentDeps,
} from './maintenance/verified-content.ts';
import { rangeNotSatisfiable } from './problems.ts';

export interface ContentRequest {
  readonly range: string | undefined;
  readonly ifRange: string | undefined;
  readonly ifNoneMatch: string | undefined;
  /** True for HEAD: the headers of the whole content, without bytes. */
  readonly headOnly: boolean;
}

export interface ContentAnswer {
  readonly status: 200 | 206 | 304;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable | null;
}

export interface ServedContentDeps extends VerifiedContentDeps {
  readonly downloadOrder: DownloadOrder;
}

/** The content of a file or of an artifact. */
export interface ServedContent extends ExpectedContent {
  readonly name: string;
  /** Only types that `safeMediaType` returns. Default: `application/octet-stream`. */
  readonly mediaType?: string;
}

/**
 * Responds with the bytes of a file as a download that no browser executes: the response never uses the type that was
 * uploaded, and scripts have no origin. Throws RANGE_NOT_SATISFIABLE, and SERVICE_UNAVAILABLE for damaged bytes.
 * Source: docs/contract.md "Files"; RFC 9110 §13, §14.
 */
export async function answerContent(
  deps: ServedContentDeps,
  file: ServedContent,
  request: ContentRequest,
): Promise<ContentAnswer> {
  const etag = `"${file.sha256}"`;
  const headers = {
    ETag: etag,
    'Accept-Ranges': 'bytes',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
  };
  if (matchesAny(request.ifNoneMatch, etag)) return { status: 304, headers, body: null };
  const asked = request.headOnly || !allowsRange(request.ifRange, etag) ? undefined : request.range;
  const answer = readRange(asked, file.bytes);
  if (answer.kind === 'unsatisfiable') throw rangeNotSatisfiable(asked ?? '', file.bytes);
  const range = answer.kind === 'part' ? answer.range : undefined;
  if (request.headOnly) await checkLength(deps, file);
  const length = range === undefined ? file.bytes : range.end - range.start + 1;
  return {
    status: range === undefined ? 200 : 206,
    headers: {
      ...headers,
      'Content-Type': file.mediaType ?? 'application/octet-stream',
      'Content-Length': String(length),
      'Content-Disposition': attachment(file.name),
      ...(range === undefined ? {} : { 'Content-Range': `bytes ${range.start}-${range.end}/${file.bytes}` }),
    },
    body: request.headOnly ? null : await openContent(deps, file, range),
  };
}

/** Opens the content. A range cannot be compared with the hash of the whole content, so only the length is checked. */
async function openContent(
  deps: ServedContentDeps,
  file: ServedContent,
  range: ByteRange | undefined,
): Promise<Readable> {
  const stored = await openStored(deps, file, range);
  const pieces = range === undefined ? readVerified(deps, file, stored) : stored;
  const ordered = Readable.from(deps.downloadOrder(file.projectId, pieces), { objectMode: false });
  // When the client disconnects before the first read, the generator ends without having started.
  return ordered.once('close', () => stored.destroy());
}

type RangeAnswer =
  | { readonly kind: 'whole' }
  | { readonly kind: 'part'; readonly range: ByteRange }
  | { readonly kind: 'unsatisfiable' };

const whole: RangeAnswer = { kind: 'whole' };

/**
 * Evaluates a Range header for content of `size` bytes. Other units, several ranges and malformed ranges are ignored,
 * as RFC 9110 §14.2 allows. The response is then the whole content.
 */
export function readRange(header: string | undefined, size: number): RangeAnswer {
  const match = /^bytes=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/i.exec(header ?? '');
  if (match === null) return whole;
  const [, from = '', to = ''] = match;
  if (from === '' && to === '') return whole;
  if (from === '') {
    const length = Math.min(Number(to), size);
    return length === 0 ? { kind: 'unsatisfiable' } : part(size - length, size - 1);
  }
  if (to !== '' && Number(to) < Number(from)) return whole;
  if (Number(from) >= size) return { kind: 'unsatisfiable' };
  return part(Number(from), to === '' ? size - 1 : Math.min(Number(to), size - 1));
}

function part(start: number, end: number): RangeAnswer {
  return { kind: 'part', range: { start, end } };
}

/** Returns whether an If-None-Match header matches the tag (weakly, RFC 9110 §13.1.2). */
export function matchesAny(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  return header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}

/** Returns whether an If-Range header allows a range. It must name exactly this tag. */
export function allowsRange(header: string | undefined, etag: string): boolean {
  return header === undefined || header.trim() === etag;
}
