import { constants } from 'node:os';
import { BlobUnreadable } from '../../files/blob-store.ts';
import { isOutOfRoom } from '../../kernel/is-out-of-room.ts';
import { Problem } from '../../kernel/problem.ts';

/** Maps an error of the system to an error for the caller; any other error is a defect and stays unchanged. */
export function diskFailure(error: unknown): unknown {
  if (isOutOfRoom(error)) {
    return new Problem('INSUFFICIENT_STORAGE', 'The disk is full; nothing of the upload was kept.', { cause: error });
  }
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EMFILE' || code === 'ENFILE') {
    return new Problem('SERVICE_UNAVAILABLE', 'Too many files are open at once. Try again.', {
      retryAfter: 1,
      cause: error,
    });
  }
  if (error instanceof Error && 'syscall' in error) return diskFailed(error, String(code));
  return error;
}

/** Failed checksums of the file system; Node.js has no names for them. */
const mediumErrors = new Set(
  [constants.errno.EIO, constants.errno.EBADMSG, 117 /* EUCLEAN */].map((number) => -number),
);

/** A failed read of a blob. Faults of the medium become {@link BlobUnreadable}; any other error stays unchanged. */
export function readFailure(error: unknown): unknown {
  const errno = error instanceof Error && 'errno' in error ? error.errno : undefined;
  return typeof errno === 'number' && mediumErrors.has(errno) ? new BlobUnreadable(error) : error;
}

/** `code`: of the system, such as EIO. */
function diskFailed(cause: Error, code: string): Problem {
  return new Problem('SERVICE_UNAVAILABLE', `The disk of the data folder failed (${code}). Try again.`, {
    retryAfter: 1,
    cause,
    isFault: true,
  });
}

/** Said before the disk is full: the database writes to it as well, and what it has acknowledged has to stay readable. */
export function diskNearlyFull(): Problem {
  return new Problem(
    'INSUFFICIENT_STORAGE',
    'The disk is nearly full, so no upload is taken. Nothing of it was kept.',
    {
      retryAfter: 60,
    },
  );
}

/** For the operator at start: a rename between file systems is a copy, and a copy can be seen half done. */
export function differentFileSystems(staging: string, blobs: string, cause: unknown): Error {
  return new Error(`${staging} and ${blobs} must be on one file system, or an upload could be seen half done.`, {
    cause,
  });
}
