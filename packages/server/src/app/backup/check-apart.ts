import { realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { unfinishedOf } from './new-folder.ts';
import { folderInside, folderWouldReplace } from './problems.ts';

/**
 * Checks that a new folder and a folder in use do not overlap. `createFolder` empties `<folder>.unfinished`, so the
 * folder in use must not be inside that one either. Follows symbolic links.
 * @param used the folder in use and its description, for example "data folder"
 * @throws BackupError when they overlap; nothing is written
 */
export async function checkApart(
  folder: string,
  used: { readonly what: string; readonly folder: string },
): Promise<void> {
  const [target, unfinished, other] = await Promise.all([folder, unfinishedOf(folder), used.folder].map(resolveLinks));
  // `createFolder` refuses the folder in use itself, because it exists.
  if (target !== other && isWithin(target, other)) throw folderInside(folder, used);
  if (isWithin(other, unfinished)) throw folderWouldReplace(unfinishedOf(folder), used);
}

/** Returns the real path of a folder. Neither the folder nor its parents need to exist. */
async function resolveLinks(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const isMissing =
      error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
    if (!isMissing || dirname(path) === path) throw error;
    return join(await resolveLinks(dirname(path)), basename(path));
  }
}

function isWithin(path = '', folder = ''): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
