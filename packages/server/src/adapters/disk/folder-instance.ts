import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { hostname } from 'node:os';

/** Linux creates this random id at each start of the machine. Containers see the id of their host. */
const bootIdFile = '/proc/sys/kernel/random/boot_id';

/**
 * Identifies a folder on this machine until the machine starts again. A copy of the folder has another inode, and the
 * copy of a machine has another boot id. The hash reveals neither.
 */
export async function folderInstance(folder: string): Promise<string> {
  const { dev, ino } = await stat(folder, { bigint: true });
  const machine = await readFile(bootIdFile, 'utf8').catch(() => hostname());
  return createHash('sha256').update(`${machine.trim()} ${dev} ${ino}`).digest('hex').slice(0, 32);
}
