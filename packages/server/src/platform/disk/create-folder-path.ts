import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

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
