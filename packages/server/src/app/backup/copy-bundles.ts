import { access, cp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { exists } from '../../platform/disk/exists.ts';

/** The maximum number of attempts. A copy during the short replacement of a bundle is repeated. */
const mostAttempts = 10;

/**
 * Copies the installed bundles: folders of versions, and links to the current version. Does nothing when no bundle was
 * ever installed.
 */
export async function copyBundles(from: string, to: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await cp(from, to, { recursive: true, verbatimSymlinks: true });
      for (const name of await readdir(to)) await access(join(to, name));
      return;
    } catch (error) {
      await rm(to, { recursive: true, force: true });
      const isGone = error instanceof Error && 'code' in error && error.code === 'ENOENT';
      if (isGone && !(await exists(from))) return;
      if (!isGone || attempt === mostAttempts) throw error;
    }
  }
}
