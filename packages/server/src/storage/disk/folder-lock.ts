import { createHash } from 'node:crypto';
import { chmodSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { OperatorError } from '../../platform/server-process/operator-error.ts';

/** Node.js closes a database that nothing refers to, which would release its lock. */
const held = new Set<DatabaseSync>();

/**
 * Locks a data folder for this process, because two processes would delete each other's staging files. The lock is
 * SQLite's lock on a file, so the operating system releases it when the process ends for any reason.
 * @throws OperatorError when another process holds the folder.
 */
export function lockFolder(folder: string): { release(): void } {
  const file = join(folder, 'in-use.lock');
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (cause) {
    database.close();
    throw new OperatorError(
      `The data folder ${folder} is in use by another process. Stop that process, or set QUARTERMASTER_DATA to another folder.`,
      { cause },
    );
  }
  keepForOwner(file);
  held.add(database);
  return {
    release: () => {
      held.delete(database);
      database.close();
    },
  };
}

/** Restricts the file to its owner. Any user who can open it could hold the lock and keep the service from starting. */
function keepForOwner(file: string): void {
  try {
    chmodSync(file, 0o600);
  } catch {
    // The file belongs to another user, who can open it anyway.
  }
}

/** Linux creates this random id at each start of the machine. Containers see the id of their host. */
const bootIdFile = '/proc/sys/kernel/random/boot_id';

/**
 * Identifies a folder, and after a point the start of its machine. A copy of the folder has another inode or another time of
 * creation, and the copy of a machine has another boot id. The hashes reveal none of them.
 */
export async function folderInstance(folder: string): Promise<string> {
  const { dev, ino, birthtimeNs } = await stat(folder, { bigint: true });
  const machine = await readFile(bootIdFile, 'utf8').catch(() => hostname());
  // The number of a device may change when the machine starts again. Some file systems store no time of creation.
  return `${hash(`${birthtimeNs || dev} ${ino}`)}.${hash(machine.trim())}`;
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
