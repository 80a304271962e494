import { mkdir, realpath } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { replaceFile } from '../../platform/disk/replace-file.ts';

/**
 * Writes a file of a bundle. The bundle is untrusted: neither paths in its examples nor links in its folder can lead outside of it.
 * @param folder an absolute path without links
 * @returns whether the file is inside the bundle and was written
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
