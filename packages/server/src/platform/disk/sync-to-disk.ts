import { mkdir, open, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { mapWithConcurrency } from '../concurrency/map-with-concurrency.ts';

/** Syncs a file or a folder to the disk. When it resolves, the content, or the names in the folder, survive a power failure. */
export async function syncToDisk(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Concurrent syncs in one folder, which the file system combines. */
const syncsAtOnce = 8;

/** Syncs the folder and every file and folder below it. Links are covered by the sync of their folder. */
export async function syncTreeToDisk(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  await mapWithConcurrency(files, syncsAtOnce, ({ name }) => syncToDisk(join(folder, name)));
  for (const entry of entries) if (entry.isDirectory()) await syncTreeToDisk(join(folder, entry.name));
  await syncToDisk(folder);
}

/**
 * Creates a folder and its missing parents. Node's recursive `mkdir` never returns on file systems that refuse new names with
 * ENOENT, such as `/proc`; this function fails there.
 */
export async function createFolderPath(path: string, mode: number): Promise<void> {
  const missing: string[] = [];
  for (let folder = path; !(await isFolder(folder)); folder = dirname(folder)) missing.push(folder);
  for (const folder of missing.reverse()) {
    await mkdir(folder, { mode }).catch((error: NodeJS.ErrnoException) => {
      // Another process may have created it in the meantime.
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

/** @throws ENOTDIR when the path, or a parent of it, is not a folder */
async function isFolder(path: string): Promise<boolean> {
  try {
    if ((await stat(path)).isDirectory()) return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && dirname(path) !== path) return false;
    throw error;
  }
  throw Object.assign(new Error(`ENOTDIR: ${path} is not a folder`), { code: 'ENOTDIR', path });
}
