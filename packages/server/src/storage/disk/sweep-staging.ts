import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissing, removeFile } from './file-system.ts';

const hour = 3_600_000;

/**
 * Removes partial uploads of ended processes. Files of another running process stay for an hour after their last byte,
 * because during a restart the old process may be finishing its uploads.
 */
export async function sweepStaging(staging: string): Promise<void> {
  for (const entry of await readdir(staging, { withFileTypes: true })) {
    // The service creates no folders here. A foreign folder may be needed by its owner and does no harm.
    if (entry.isDirectory()) continue;
    const { name } = entry;
    const path = join(staging, name);
    const pid = Number(name.slice(name.lastIndexOf('.') + 1));
    if (isOther(pid) && (await isYoung(path))) continue;
    await removeFile(path);
  }
}

/** This process's own number in a file name belongs to an earlier process, as in a container. */
function isOther(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

async function isYoung(path: string): Promise<boolean> {
  try {
    return Date.now() - (await stat(path)).mtimeMs < hour;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}
