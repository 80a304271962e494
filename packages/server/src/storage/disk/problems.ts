import { constants } from 'node:os';
import { commandName } from '@quartermaster/contract/command-name';
import { isDiskFull } from '../../platform/disk/disk-space.ts';
import { Problem } from '../../platform/problem.ts';
import { quoteText } from '../../platform/quote-text.ts';
import { OperatorError } from '../../platform/server-process/operator-error.ts';
import { BlobUnreadable } from '../../stores/files/blob-store.ts';

/** Maps a system error to an error for the caller. Any other error is a defect and stays unchanged. */
export function diskFailure(error: unknown): unknown {
  if (isDiskFull(error)) {
    return new Problem(
      'INSUFFICIENT_STORAGE',
      'The disk is full. Nothing was stored. Free disk space, then retry the upload.',
      { cause: error, condition: 'disk_full' },
    );
  }
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EMFILE' || code === 'ENFILE') {
    return new Problem('SERVICE_UNAVAILABLE', 'The service has too many open files. Retry the request.', {
      retryAfter: 1,
      cause: error,
    });
  }
  if (error instanceof Error && 'syscall' in error) return diskFailed(error, String(code));
  return error;
}

/** Errors of a damaged or failing disk. Node.js has no name for EUCLEAN. */
const mediumErrors = new Set(
  [constants.errno.EIO, constants.errno.EBADMSG, 117 /* EUCLEAN */].map((number) => -number),
);

/** Maps a failed read of a blob. Errors of the disk become {@link BlobUnreadable}; other errors stay unchanged. */
export function readFailure(error: unknown): unknown {
  const errno = error instanceof Error && 'errno' in error ? error.errno : undefined;
  return typeof errno === 'number' && mediumErrors.has(errno) ? new BlobUnreadable(error) : error;
}

/** @param code an error code of the operating system, such as EIO */
function diskFailed(cause: Error, code: string): Problem {
  return new Problem(
    'SERVICE_UNAVAILABLE',
    `The disk of the data folder failed (${code}). Retry the request. If it fails again, check the disk.`,
    {
      retryAfter: 1,
      cause,
      ...(code === 'EROFS' ? { condition: 'disk_read_only' } : { isFault: true }),
    },
  );
}

/**
 * Uploads stop before the disk is full, because the database needs the remaining space to keep committed data readable.
 */
export function diskNearlyFull(): Problem {
  return new Problem(
    'INSUFFICIENT_STORAGE',
    'The disk is nearly full, so the upload was refused. Nothing was stored. Free disk space, then retry. `/v1/ready?verbose=1` tells how much.',
    {
      retryAfter: 60,
    },
  );
}

/** An error for the operator at start. A rename between file systems is a copy, which readers can see half finished. */
export function differentFileSystems(staging: string, blobs: string, cause: unknown): OperatorError {
  return new OperatorError(
    `${staging} and ${blobs} are on different file systems, so an upload could be read half written. Put both on one file system.`,
    {
      cause,
    },
  );
}

/** An error of the command line, which passes ids as they are written. */
export function notABlobId(text: string): OperatorError {
  return new OperatorError(
    `${quoteText(text)} is not the id of a blob. Run "${commandName} quarantine list" to see the blobs in the quarantine.`,
  );
}
