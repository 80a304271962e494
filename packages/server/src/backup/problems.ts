/** A backup that cannot be made; the message is for whoever runs the command. */
export class BackupError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'BackupError';
  }
}

export function folderExists(folder: string): BackupError {
  return new BackupError(`${folder} exists already. A backup is made in a new folder: name one that does not exist.`);
}

/** `folder` is what an unfinished backup is called. */
export function unfinishedBackup(folder: string): BackupError {
  return new BackupError(
    `${folder} is a backup under way, or one that was interrupted. If none is being made, remove it and try again.`,
  );
}

export function noStore(dataFolder: string): BackupError {
  return new BackupError(
    `There is no store in ${dataFolder}. QUARTERMASTER_DATA names its folder, QUARTERMASTER_DATABASE_URL its PostgreSQL database.`,
  );
}

export function deletedTooFast(rounds: number): BackupError {
  return new BackupError(
    `Files were deleted faster than they could be copied, ${rounds} times in a row; no backup was made. Try again later.`,
  );
}
