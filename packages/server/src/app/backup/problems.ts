import { commandName } from '@quartermaster/contract/command-name';
import { factoriesOf } from '../../platform/problem.ts';
import { quoteText } from '../../platform/quote-text.ts';

/** A backup or a restore failed. The command line prints the message. */
export class BackupError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'BackupError';
  }
}

export const {
  folderExists,
  folderInStore,
  notUnfinished,
  folderInside,
  folderWouldReplace,
  earlierBackup,
  noStore,
  contentElsewhere,
  contentInBackup,
  claimNeeded,
  objectsOfAnotherStore,
  noEncryptionKey,
  deletedTooFast,
  noBackupFolder,
  backupDamaged,
} = factoriesOf(
  {
    folderExists: (folder: string) => `${folder} already exists. Name a folder that does not exist.`,
    folderInStore: (folder: string, store: string) =>
      `${folder} is inside the data folder ${store}. Nothing was written. Name a folder outside of it.`,
    notUnfinished: (unfinished: string) =>
      `${unfinished} exists and was not created by a backup or a restore, so it was not replaced. Move it away, or name another folder.`,
    folderInside: (folder: string, used: UsedFolder) =>
      `${folder} is inside the ${used.what} ${used.folder}. Nothing was written. Name a folder outside of it.`,
    /** @param unfinished the folder that is emptied before it is filled */
    folderWouldReplace: (unfinished: string, used: UsedFolder) =>
      `This would replace ${unfinished}, which contains the ${used.what} ${used.folder}. Nothing was written. Name another folder.`,
    earlierBackup: (folder: string) =>
      `An unreleased version of Quartermaster created the backup ${folder}, and this version cannot restore it: start the service with a new data folder, then upload the files again.`,
    /** @param place null: the data folder */
    contentElsewhere: (place: string | null) =>
      `The content is in ${place ?? 'the data folder'}, so nothing was written. ${place === null ? 'Unset QUARTERMASTER_BLOBS' : 'Set QUARTERMASTER_BLOBS to this place, or to a copy of all its objects'}.`,
    contentInBackup: () =>
      'The backup contains the content of its files, which a restore writes into the data folder. Unset QUARTERMASTER_BLOBS.',
    claimNeeded: (place: string, blobs: number) =>
      `All ${blobs} objects of the backup are in ${place}. Nothing was restored, because the nodes of the store may still use this place. Stop all of them, then add --claim: from then on only the restored store may use it.`,
    objectsOfAnotherStore: (place: string) =>
      `${place} does not hold the content of this backup: its store.json is missing or names another store. Nothing was restored. Correct QUARTERMASTER_BLOBS. If the objects were copied, copy store.json, too.`,
    noStore: (dataFolder: string) =>
      `No Quartermaster store found in ${dataFolder}. Set QUARTERMASTER_DATA to its data folder, and QUARTERMASTER_DATABASE_URL if its database is in PostgreSQL.`,
    noEncryptionKey: (file: string) =>
      `${file} does not exist, so the encryption key cannot be included. It comes from QUARTERMASTER_SEALING_KEY or QUARTERMASTER_SEALING_KEY_FILE. Copy it yourself and omit --include-key.`,
    deletedTooFast: (rounds: number) =>
      `No backup was created: files were deleted while they were being copied, ${rounds} times in a row. Try again later.`,
    noBackupFolder: (folder: string) =>
      `The folder ${folder} does not exist. Name a folder that "${commandName} backup" created.`,
    backupDamaged: (file: string) =>
      `The backup is damaged: ${file} was changed after "${commandName} backup" wrote it. Nothing was restored. Use another backup.`,
  },
  (message) => new BackupError(message),
);

export function folderNotCreated(folder: string, cause: unknown): BackupError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new BackupError(`${folder} cannot be created: ${reason}. Name a folder whose parents can be written.`, cause);
}

export function folderUnderWay(folder: string, cause: unknown): BackupError {
  return new BackupError(`Another process is writing ${folder}. Wait until it ends, or name another folder.`, cause);
}

interface UsedFolder {
  readonly what: string;
  readonly folder: string;
}

export function notABackup(folder: string, cause?: unknown): BackupError {
  return new BackupError(
    `${folder} is not a backup of this version: its backup.json is missing or not valid. Name a folder that "${commandName} backup" created. docs/guides/operating.md explains how to restore older backups.`,
    cause,
  );
}

const mostSamples = 5;

/** Lists some files whose content is missing or changed, or their blob when no live file has it. */
export function contentDamaged(
  faults: ReadonlyArray<{
    readonly blobId: string;
    readonly files: ReadonlyArray<{ readonly fileId: string; readonly name: string }>;
  }>,
  facts: { readonly createdAt: string; readonly objects?: { readonly keepDeletedDays: number } | undefined },
): BackupError {
  const sample = faults.slice(0, mostSamples).map(({ blobId, files: [file] }) => {
    return file === undefined ? `blob ${blobId}` : `${quoteText(file.name)} (${file.fileId})`;
  });
  const where =
    facts.objects === undefined
      ? 'the backup'
      : `the object storage, which keeps the content of deleted files for ${facts.objects.keepDeletedDays} days (the backup is of ${facts.createdAt}),`;
  return new BackupError(
    `The content of ${faults.length} files is missing from ${where} or damaged: ${sample.join(', ')}${faults.length > mostSamples ? ', …' : ''}. Nothing was restored. Use another backup, or add --damaged to restore all other files.`,
  );
}

/** @param has the kind of database in the backup: `sqlite` or `postgres` */
export function otherDatabase(has: string): BackupError {
  return new BackupError(
    has === 'postgres'
      ? 'The backup is of a PostgreSQL store. Create an empty database and set QUARTERMASTER_DATABASE_URL to it.'
      : 'The backup is of a SQLite store, whose database is in the data folder. Unset QUARTERMASTER_DATABASE_URL.',
  );
}
