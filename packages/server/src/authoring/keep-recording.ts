import { mkdir, realpath } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { replaceFile } from '../kernel/disk/replace-file.ts';

/**
 * Writes a file of a bundle. A bundle may be somebody else's: neither what its examples name nor a link in its folder
 * leads out of it.
 * @param folder absolute, without links
 * @returns whether it is inside of the bundle, and written
 */
export async function keepRecording(folder: string, file: string, text: string): Promise<boolean> {
  const path = join(folder, file);
  if (!path.startsWith(`${folder}${sep}`)) return false;
  await mkdir(dirname(path), { recursive: true });
  const place = await realpath(dirname(path));
  if (place !== folder && !place.startsWith(`${folder}${sep}`)) return false;
  await replaceFile(path, text);
  return true;
}
