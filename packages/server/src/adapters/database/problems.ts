import { FatalError } from '../../kernel/fatal-error.ts';
import { Problem } from '../../kernel/problem.ts';

/** There is nothing to copy. */
export function noDatabase(file: string): Error {
  return new Error(
    `There is no database ${file}. QUARTERMASTER_DATA names its folder, QUARTERMASTER_DATABASE_URL a PostgreSQL database.`,
  );
}

/** `findings` are SQLite's. */
export function databaseDamaged(findings: readonly string[]): Error {
  return new Error(`The database is damaged; no backup was made. SQLite says: ${findings.join('; ')}`);
}

export function dumpProgramMissing(cause: unknown): Error {
  return new Error(
    'A backup of a PostgreSQL database needs pg_dump on the PATH, of the version of the server or newer.',
    { cause },
  );
}

/** `said` is what pg_dump wrote to its standard error; it has no password in it. */
export function dumpFailed(said: string): Error {
  return new Error(`pg_dump failed; no backup was made. It says: ${said}`);
}

/** The server is away, or its connection broke: whether what was asked for happened is not known. */
export function databaseUnreachable(cause: unknown): Problem {
  return new Problem('SERVICE_UNAVAILABLE', 'The database cannot be reached. Try again.', { retryAfter: 1, cause });
}

/** It waited too long for a lock or for the server, or lost against other transactions; nothing of it was stored. */
export function databaseBusy(cause: unknown): Problem {
  return new Problem('SERVICE_UNAVAILABLE', 'The database did not finish in time. Try again.', {
    retryAfter: 1,
    cause,
  });
}

/** The server takes no writes: a standby, or a primary that was made read-only. */
export function databaseReadOnly(cause: unknown): Problem {
  return new Problem('SERVICE_UNAVAILABLE', 'The database takes no writes at the moment. Try again.', {
    retryAfter: 1,
    cause,
  });
}

/** The disk, or its quota, has no room for the database, which has rolled the transaction back. */
export function databaseFull(cause: unknown): Problem {
  return new Problem('INSUFFICIENT_STORAGE', 'The disk of the database is full; nothing was stored.', {
    retryAfter: 60,
    cause,
    isFault: true,
  });
}

/** A read or write of the database file failed; the state of the file is known. */
export function databaseNotAccessible(cause: unknown): Problem {
  return new Problem('SERVICE_UNAVAILABLE', 'The disk of the database failed. Try again.', {
    retryAfter: 1,
    cause,
    isFault: true,
  });
}

/** Exit code EX_SOFTWARE of sysexits.h: the supervisor starts the service again. */
const exitAfterFailedSync = 70;

export function databaseSyncFailed(path: string, cause: unknown): FatalError {
  return new FatalError(
    `database sync failed: the disk did not confirm a write to ${path}. The process ends; the next start recovers what was committed.`,
    { exitCode: exitAfterFailedSync, cause },
  );
}
