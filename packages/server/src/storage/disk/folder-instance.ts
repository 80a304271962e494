import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { hostname } from 'node:os';

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
