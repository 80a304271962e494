import { commandName } from '@quartermaster/contract/command-name';
import { Problem } from '../../platform/problem.ts';
import { FatalError } from '../../platform/server-process/fatal-error.ts';
import { OperatorError, operatorErrorsOf } from '../../platform/server-process/operator-error.ts';

export const {
  noSqliteStore,
  databaseDamaged,
  sessionsShared,
  newerStore,
  olderStore,
  unfinishedMove,
  movedStore,
  earlierStore,
  noPostgresStore,
  databaseNotEmpty,
} = operatorErrorsOf({
  /**
   * The data folder has no SQLite database, or its database has no tables of a store.
   * @param file the name of the database file
   */
  noSqliteStore: (folder: string, file: string) =>
    `No Quartermaster store found in ${folder}: it has no database ${file} with the tables of a store. Set QUARTERMASTER_DATA to the data folder, or QUARTERMASTER_DATABASE_URL if the database is in PostgreSQL. To create a store, start the service.`,
  /** @param findings messages of SQLite's integrity check */
  databaseDamaged: (findings: readonly string[]) =>
    `The database is damaged, so nothing was copied. SQLite reports: ${findings.join('; ')}. Restore a backup (docs/guides/operating.md).`,
  /** A pooler lends the same session to several clients, and the programs of PostgreSQL change their session. */
  sessionsShared:
    'The connection pooler of QUARTERMASTER_DATABASE_URL shares sessions between clients (pool_mode = transaction). pg_dump and pg_restore would change the sessions of the service. Run this command with the URL of the PostgreSQL server itself.',
  /** @param migrations names that this version does not know */
  newerStore: (migrations: readonly string[]) =>
    `A newer version of Quartermaster changed the database (migrations ${migrations.join(', ')}). Use that version, or restore a backup of this version.`,
  /** @param migrations names that the database lacks */
  olderStore: (migrations: readonly string[]) =>
    `An earlier version of Quartermaster wrote this store (it lacks the migrations ${migrations.join(', ')}). Start the service of this version on it once, stop it, and run the command again.`,
  /** `move` has created the database and has not ended. */
  unfinishedMove: `The database holds a store that "${commandName} move" has not copied completely. Run the same command again to finish it, or use an empty database.`,
  /** @param table it has a row that `move` has added */
  movedStore: (place: string, table: string) =>
    `The store in this database was moved to ${place}. Use it there. To go back to this store, which lacks every change made there, stop the service there, run "DELETE FROM ${table} WHERE name LIKE '9999-moved-to-%'" in this database, and delete moved.json from the data folders.`,
  /** A commit before the first migration that is kept has created the tables. */
  earlierStore:
    'An unreleased version of Quartermaster created this store, and this version cannot read it: set QUARTERMASTER_DATA to a new folder (and QUARTERMASTER_DATABASE_URL, if it is set, to an empty database), then upload the files again.',
  /** The database has no migration table on its search path. */
  noPostgresStore:
    'No Quartermaster store found in the database of QUARTERMASTER_DATABASE_URL: it has no table schema_migration. Set the variable to the database of the service. To create a store, start the service.',
  databaseNotEmpty:
    'The database of QUARTERMASTER_DATABASE_URL already holds a store. Create an empty database and set the variable to it.',
});

export function programMissing(program: string, cause: unknown): OperatorError {
  return new OperatorError(
    `${program} is not on the PATH. Backups of a PostgreSQL database need it. Install the PostgreSQL client programs of the server's version or newer.`,
    { cause },
  );
}

/** A row of the target cannot be made equal to the source. */
export function tableNotCopied(table: string, cause?: unknown): OperatorError {
  return new OperatorError(
    `The table ${table} of the target differs from that of the source, and copying it again did not help. Stop every process that uses either store, empty the target, and run the command again.`,
    { cause },
  );
}

/** @param output the program's standard error, without passwords */
export function programFailed(program: string, output: string): Error {
  return new Error(`${program} failed: ${output}`);
}

/** @param reason the message of the driver, which contains no password */
export function postgresUnreachable(reason: string, cause: unknown): OperatorError {
  return new OperatorError(
    `PostgreSQL cannot be reached at the address of QUARTERMASTER_DATABASE_URL (${reason}). Start the database server, or correct the address.`,
    { cause },
  );
}

/**
 * The server refuses the user, the password or the database of the URL.
 * @param reason the message of the server, which contains no password
 */
export function postgresLoginRefused(reason: string, cause: unknown): OperatorError {
  return new OperatorError(
    `PostgreSQL refuses the connection (${reason}). Correct the user, the password or the database in QUARTERMASTER_DATABASE_URL.`,
    { cause },
  );
}

/** The server is unreachable or the connection broke. It is unknown whether the statement took effect. */
export function databaseUnreachable(cause: unknown): Problem {
  return new Problem('SERVICE_UNAVAILABLE', 'The database cannot be reached. Retry the request.', {
    retryAfter: 1,
    cause,
  });
}

/**
 * The statement waited too long for a lock or the server, or other transactions caused a rollback. Nothing was stored.
 */
export function databaseBusy(cause: unknown): Problem {
  return new Problem('SERVICE_UNAVAILABLE', 'The database did not answer in time. Retry the request.', {
    retryAfter: 1,
    cause,
  });
}

/** The process has written no heartbeat for so long that another one may serve the store. The change was not sent. */
export function changesFenced(): Problem {
  return new Problem(
    'SERVICE_UNAVAILABLE',
    'The service could not confirm that no other process serves its store. Nothing was stored. Retry the request.',
    { retryAfter: 1 },
  );
}

/** The server is read-only: it is a standby, or the primary was made read-only. */
export function databaseReadOnly(cause: unknown): Problem {
  return new Problem('SERVICE_UNAVAILABLE', 'The database is read-only at the moment. Retry the request.', {
    retryAfter: 1,
    cause,
    condition: 'database_read_only',
  });
}

/** The disk or its quota is full. The database rolled the transaction back. */
export function databaseFull(cause: unknown): Problem {
  return new Problem(
    'INSUFFICIENT_STORAGE',
    'The disk of the database is full. Nothing was stored. Free disk space, then retry.',
    {
      retryAfter: 60,
      cause,
      condition: 'database_disk_full',
    },
  );
}

/** A read or write of the database file failed; the state of the file is known. */
export function databaseNotAccessible(cause: unknown): Problem {
  return new Problem(
    'SERVICE_UNAVAILABLE',
    'The disk of the database failed. Retry the request. If it fails again, check the disk.',
    {
      retryAfter: 1,
      cause,
      isFault: true,
    },
  );
}

/** SQLite reports the same code for a damaged page and for a page that the disk cannot read. */
export function databaseUnreadable(cause: unknown): Problem {
  return new Problem(
    'SERVICE_UNAVAILABLE',
    `The disk of the database failed, or the database is damaged. Retry the request. If it fails again, run "${commandName} fsck".`,
    {
      retryAfter: 1,
      cause,
      isFault: true,
    },
  );
}

/** EX_SOFTWARE of sysexits.h. A supervisor then restarts the service. */
const exitAfterFailedSync = 70;

export function databaseSyncFailed(path: string, cause: unknown): FatalError {
  return new FatalError(
    `database sync failed: the disk did not confirm a write to ${path}. The process exits. The next start recovers all committed data.`,
    { exitCode: exitAfterFailedSync, cause },
  );
}

/** @param said the message of SQLite */
export function databaseFileDamaged(file: string, description: string, cause: unknown): OperatorError {
  return new OperatorError(
    `The database ${file} is damaged: ${description}. Stop the service, keep a copy of the file, and restore a backup ("${commandName} restore", docs/guides/operating.md).`,
    { cause },
  );
}

/**
 * An error of `fsck`.
 * @param place the part of the database that the check was reading
 */
export function checkUnfinished(place: string, cause: unknown): OperatorError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new OperatorError(
    `The check of the database did not finish at ${place}: ${reason} This is not damage. Run the command again when the server is less busy.`,
    { cause },
  );
}
