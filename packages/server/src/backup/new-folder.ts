import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { exists } from '../kernel/exists.ts';
import { syncToDisk, syncTreeToDisk } from '../kernel/sync-to-disk.ts';
import { folderExists, unfinishedBackup } from './problems.ts';

/**
 * Makes a folder whole or not at all: it is filled under another name, synced, and renamed. What was interrupted stays
 * beside it as `<folder>.unfinished`.
 * @throws BackupError when one of the two is there already
 */
export async function makeFolder<Result>(folder: string, fill: (folder: string) => Promise<Result>): Promise<Result> {
  const unfinished = `${folder}.unfinished`;
  if (await exists(folder)) throw folderExists(folder);
  if (await exists(unfinished)) throw unfinishedBackup(unfinished);
  await mkdir(dirname(folder), { recursive: true });
  await mkdir(unfinished, { mode: 0o700 });
  try {
    const result = await fill(unfinished);
    await syncTreeToDisk(unfinished);
    await rename(unfinished, folder);
    await syncToDisk(dirname(folder));
    return result;
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw error;
  }
}
