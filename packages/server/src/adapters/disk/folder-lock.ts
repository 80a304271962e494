import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/**
 * Keeps a data folder for this process: two would sweep each other's staging files. The lock is SQLite's own lock on
 * a file, so the operating system gives it back when the process ends, however it ends.
 * @throws Error when another process holds the folder.
 */
export function lockFolder(folder: string): { release(): void } {
  const database = new DatabaseSync(join(folder, 'in-use.lock'), { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (cause) {
    database.close();
    throw new Error(`The data folder ${folder} is in use by another process.`, { cause });
  }
  return { release: () => database.close() };
}
