import { Readable } from 'node:stream';
import type { ByteRange } from './blob-store.ts';
import { allowsRange, matchesAny, readRange } from './byte-range.ts';
import { attachment } from './content-disposition.ts';
import type { DownloadOrder } from './download-order.ts';
import {
  checkLength,
  type ExpectedContent,
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
  await checkLength(deps, file);
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
  const stored = await deps.blobs.open(file.blobId, range);
  const pieces = range === undefined ? readVerified(deps, file, stored) : stored;
  const ordered = Readable.from(deps.downloadOrder(file.projectId, pieces), { objectMode: false });
  // When the client disconnects before the first read, the generator ends without having started.
  return ordered.once('close', () => stored.destroy());
}
