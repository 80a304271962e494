import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { mapWithConcurrency } from '../concurrency/map-with-concurrency.ts';

/** Syncs a file or a folder to the disk. Its content, or its names, survive a power failure when this resolves. */
export async function syncToDisk(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Of a folder, at the same time: the file system writes them together. */
const syncsAtOnce = 8;

/** Every file and folder below a folder, and the folder; links are names and need no more than their folder. */
export async function syncTreeToDisk(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  await mapWithConcurrency(files, syncsAtOnce, ({ name }) => syncToDisk(join(folder, name)));
  for (const entry of entries) if (entry.isDirectory()) await syncTreeToDisk(join(folder, entry.name));
  await syncToDisk(folder);
}
