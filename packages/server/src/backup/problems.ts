import { quoteText } from '../kernel/quote-text.ts';

/** A backup or a restore that fails; the message is for the operator who runs the command. */
export class BackupError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'BackupError';
  }
}

export function folderExists(folder: string): BackupError {
  return new BackupError(`${folder} exists already. Name a folder that does not exist.`);
}

export function folderInStore(folder: string, store: string): BackupError {
  return new BackupError(
    `${folder} is inside the data folder ${store}. Nothing was written. Name a folder outside of it.`,
  );
}

export function folderNotCreated(folder: string, cause: unknown): BackupError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new BackupError(`${folder} cannot be created: ${reason}. Name a folder whose parents can be written.`, cause);
}

export function folderUnderWay(folder: string, cause: unknown): BackupError {
  return new BackupError(
    `Another process is writing ${folder}. Wait until it has ended, or name another folder.`,
    cause,
  );
}

export function notUnfinished(unfinished: string): BackupError {
  return new BackupError(
    `${unfinished} was not left by a backup or a restore, so it is not replaced. Move it away, or name another folder.`,
  );
}

interface UsedFolder {
  readonly what: string;
  readonly folder: string;
}

export function folderInside(folder: string, used: UsedFolder): BackupError {
  return new BackupError(
    `${folder} is inside the ${used.what} ${used.folder}. Nothing was written. Name a folder outside of it.`,
  );
}

/** @param unfinished the folder that is emptied before it is filled */
export function folderWouldReplace(unfinished: string, used: UsedFolder): BackupError {
  return new BackupError(
    `This would replace ${unfinished}, which contains the ${used.what} ${used.folder}. Nothing was written. Name another folder.`,
  );
}

export function noStore(dataFolder: string): BackupError {
  return new BackupError(
    `No Quartermaster store found in ${dataFolder}. Set QUARTERMASTER_DATA to its data folder, and QUARTERMASTER_DATABASE_URL if its database is in PostgreSQL.`,
  );
}

export function noEncryptionKey(file: string): BackupError {
  return new BackupError(
    `There is no ${file} to include. The encryption key of this store comes from QUARTERMASTER_SEALING_KEY or QUARTERMASTER_SEALING_KEY_FILE; copy it yourself, and leave --include-key out.`,
  );
}

export function deletedTooFast(rounds: number): BackupError {
  return new BackupError(
    `Files were deleted faster than they could be copied, ${rounds} times in a row; no backup was made. Try again later.`,
  );
}

export function noBackupFolder(folder: string): BackupError {
  return new BackupError(`There is no folder ${folder}. Name a folder that "quartermaster backup" made.`);
}

export function notABackup(folder: string, cause?: unknown): BackupError {
  return new BackupError(
    `${folder} is not a backup of this version: its backup.json is missing or has another form. Name a folder that "quartermaster backup" made; docs/guides/operating.md says how to restore older ones.`,
    cause,
  );
}

export function backupDamaged(file: string): BackupError {
  return new BackupError(
    `The backup is damaged: ${file} is not what "quartermaster backup" wrote. Nothing was restored. Use another backup.`,
  );
}

const mostSamples = 5;

/** Names some of the files that are missing or changed; a backup of an earlier version knows only their blobs. */
export function contentDamaged(
  faults: ReadonlyArray<{
    readonly blobId: string;
    readonly files: ReadonlyArray<{ readonly fileId: string; readonly name: string }>;
  }>,
): BackupError {
  const sample = faults.slice(0, mostSamples).map(({ blobId, files: [file] }) => {
    return file === undefined ? `blob ${blobId}` : `${quoteText(file.name)} (${file.fileId})`;
  });
  return new BackupError(
    `The backup lacks the content of ${faults.length} files, or holds other content: ${sample.join(', ')}${faults.length > mostSamples ? ', …' : ''}. Nothing was restored. Use another backup, or add --damaged to restore all other files.`,
  );
}

/** @param has `sqlite` or `postgres`: where the database of the backup was. */
export function otherDatabase(has: string): BackupError {
  return new BackupError(
    has === 'postgres'
      ? 'The backup is of a store in PostgreSQL. Create an empty database and set QUARTERMASTER_DATABASE_URL to it.'
      : 'The backup is of a store in SQLite, which lies in the data folder. Unset QUARTERMASTER_DATABASE_URL.',
  );
}
