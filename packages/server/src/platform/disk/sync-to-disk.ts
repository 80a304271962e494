import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
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
