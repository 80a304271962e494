import { FatalError } from '../../kernel/fatal-error.ts';
import { Problem } from '../../kernel/problem.ts';

/** There is nothing to copy. */
export function noDatabase(file: string): Error {
  return new Error(
    `No Quartermaster store found: there is no ${file}. Set QUARTERMASTER_DATA to the data folder, or QUARTERMASTER_DATABASE_URL if the database is in PostgreSQL.`,
  );
}

/** `findings` are SQLite's. */
export function databaseDamaged(findings: readonly string[]): Error {
  return new Error(`The database is damaged; nothing was copied. SQLite says: ${findings.join('; ')}`);
}

export function programMissing(program: string, cause: unknown): Error {
  return new Error(
    `${program} is not on the PATH. Backups of a PostgreSQL database need the client programs of PostgreSQL, of the version of the server or newer. Install them.`,
    { cause },
  );
}

/** `output` is what the program wrote to its standard error; it has no password in it. */
export function programFailed(program: string, output: string): Error {
  return new Error(`${program} failed: ${output}`);
}

/** @param migrations those that this version does not have */
export function newerStore(migrations: readonly string[]): Error {
  return new Error(
    `The database was used by a newer version of Quartermaster (it has ${migrations.join(', ')}); use that version, or restore a backup made by this one.`,
  );
}

/** The database has no table of migrations, or it is not on the search path. */
export function noPostgresStore(): Error {
  return new Error(
    'No Quartermaster store found in the database of QUARTERMASTER_DATABASE_URL. Start the service once to create it.',
  );
}

export function databaseNotEmpty(): Error {
  return new Error(
    'The database of QUARTERMASTER_DATABASE_URL holds a store already. Create an empty database, and set the variable to it.',
  );
}

/** The server is away, or its connection broke: whether what was asked for happened is not known. */
export function databaseUnreachable(cause: unknown): Problem {
  return new Problem('SERVICE_UNAVAILABLE', 'The database cannot be reached. Try again.', { retryAfter: 1, cause });
}

/** The statement waited too long for a lock or the server, or was rolled back because of other transactions. Nothing was stored. */
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

/** The disk or its quota is full. The database has rolled the transaction back. */
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

/** SQLite reports the same code for a damaged page and for a page that the disk fails to read. */
export function databaseUnreadable(cause: unknown): Problem {
  return new Problem('SERVICE_UNAVAILABLE', 'The disk of the database failed, or the database is damaged. Try again.', {
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

/** `said`: the message of SQLite. */
export function databaseFileDamaged(file: string, said: string, cause: unknown): Error {
  return new Error(
    `The database ${file} is damaged: ${said}. Stop the service, keep a copy of the file, and restore a backup ("quartermaster restore", docs/guides/operating.md).`,
    { cause },
  );
}

/** For `fsck`. @param place what was being read */
export function checkUnfinished(place: string, cause: unknown): Error {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new Error(
    `The check of the database did not finish at ${place}: ${reason} This is not damage. Run the command again when the server is less busy.`,
    { cause },
  );
}
