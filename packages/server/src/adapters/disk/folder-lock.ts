import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/**
 * Keeps a data folder for this process: two would sweep each other's staging files. The lock is SQLite's own lock on
 * a file, so the operating system gives it back when the process ends, however it ends.
 * @throws Error when another process holds the folder.
 */
export function lockFolder(folder: string): { release(): void } {
  const file = join(folder, 'in-use.lock');
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (cause) {
    database.close();
    throw new Error(`The data folder ${folder} is in use by another process.`, { cause });
  }
  keepForOwner(file);
  return { release: () => database.close() };
}

/** A user who can open the file can hold the lock and keep the service from starting. */
function keepForOwner(file: string): void {
  try {
    chmodSync(file, 0o600);
  } catch {
    // The file belongs to another user, who could open it anyway.
  }
}
