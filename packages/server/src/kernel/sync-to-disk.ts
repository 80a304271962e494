import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** What was written to a file, or which names a folder has, survives a power cut when this resolves. */
export async function syncToDisk(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Every file and folder below a folder, and the folder; links are names and need no more than their folder. */
export async function syncTreeToDisk(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await syncTreeToDisk(path);
    else if (entry.isFile()) await syncToDisk(path);
  }
  await syncToDisk(folder);
}
