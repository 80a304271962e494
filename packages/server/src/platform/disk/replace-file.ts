import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncToDisk } from './sync-to-disk.ts';

/**
 * Writes a file atomically: after a crash a reader finds either the old or the new content. A link with that name is replaced, not
 * followed.
 */
export async function replaceFile(path: string, content: string | Uint8Array, mode = 0o644): Promise<void> {
  const folder = dirname(path);
  const draft = join(folder, `.${randomUUID()}`);
  try {
    const file = await open(draft, 'wx', mode);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await syncToDisk(folder);
}
