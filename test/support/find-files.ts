import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Returns the paths of all files in a folder, or of those that contain the text. */
export async function findFiles(folder: string, text?: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries.filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name);
    if (text === undefined || (await readFile(path)).includes(text)) found.push(path);
  }
  return found;
}
