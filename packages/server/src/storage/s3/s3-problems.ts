import { isDiskFull } from '../../platform/disk/disk-space.ts';
import { Problem } from '../../platform/problem.ts';

/** An error that the object storage reported. The codes are those of S3, or `HTTP 500` without one. */
export class S3Error extends Error {
  readonly status: number;
  readonly code: string;
  constructor(operation: string, { status, code, message }: { status: number; code: string; message: string }) {
    super(`${operation} failed: ${code}${message === '' ? '' : ` (${message})`}`);
    this.name = 'S3Error';
    this.status = status;
    this.code = code;
  }
}

/** Errors after which the same request may succeed. A part whose bytes arrived changed is sent again. */
const temporaryCodes = new Set([
  'BadDigest',
  'ConditionalRequestConflict',
  'InternalError',
  'OperationAborted',
  'RequestTimeout',
  'ServiceUnavailable',
  'SlowDown',
  'XAmzContentSHA256Mismatch',
]);

/** Whether a repeated request may succeed. Errors without an answer are those of the connection. */
export function isTemporaryFailure(error: unknown): boolean {
  if (!(error instanceof S3Error)) return !(error instanceof Problem);
  return temporaryCodes.has(error.code) || error.status === 429 || (error.status >= 500 && error.status !== 501);
}

/** The remedy of the errors that the operator causes. */
const remedies: Readonly<Record<string, string>> = {
  AccessDenied: 'Allow its key to read, write, list and delete objects of the bucket',
  InvalidAccessKeyId: 'Correct AWS_ACCESS_KEY_ID',
  NoSuchBucket: 'Create the bucket, or correct QUARTERMASTER_BLOBS',
  PermanentRedirect: 'Correct AWS_REGION',
  RequestTimeTooSkewed: 'Correct the clock of this machine',
  SignatureDoesNotMatch: 'Correct AWS_SECRET_ACCESS_KEY and AWS_REGION',
};

const fullCodes = new Set(['QuotaExceeded', 'XMinioStorageFull', 'EntityTooLarge']);

/** The restore of a backup has replaced the mark of the place. */
export const placeClaimed = () =>
  new Problem(
    'SERVICE_UNAVAILABLE',
    'The object storage belongs to a store that was restored from a backup. The operator must act: Stop this service',
    { retryAfter: 60, condition: 'object_storage_refused' },
  );

/** Maps a failure of the object storage to an error for the caller. Other errors stay unchanged. */
export function objectStorageFailure(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const code = error instanceof S3Error ? error.code : 'no answer';
  if (fullCodes.has(code) || (error instanceof S3Error && error.status === 507) || isDiskFull(error)) {
    return new Problem(
      'INSUFFICIENT_STORAGE',
      `The object storage has no space for the content (${code}). Nothing was stored. Enlarge its quota, then retry the upload.`,
      { cause: error, condition: 'object_storage_full' },
    );
  }
  const remedy = remedies[code];
  return new Problem(
    'SERVICE_UNAVAILABLE',
    `The object storage failed (${code}). ${remedy === undefined ? 'Retry the request' : `The operator must act: ${remedy}`}.`,
    {
      retryAfter: remedy === undefined ? 1 : 60,
      cause: error,
      condition: remedy === undefined ? 'object_storage_failed' : 'object_storage_refused',
    },
  );
}
