import { access as checkAccess, constants, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createFolderPath } from '../../platform/disk/create-folder-path.ts';
import type { Logger } from '../../platform/log/logger.ts';
import { OperatorError } from '../../platform/server-process/operator-error.ts';
import type { Config } from '../settings/config.ts';

const access = { writtenByGroup: 0o020, readByOthers: 0o004, writtenByOthers: 0o002 } as const;

/**
 * Creates a missing data folder and checks its permissions.
 * @throws OperatorError with the remedy when this user cannot write to it, or when all users can
 */
export async function openDataFolder(folder: string, logger: Logger): Promise<void> {
  try {
    await createFolderPath(folder, 0o700);
    await checkAccess(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new OperatorError(
      code === 'ENOTDIR' || code === 'EEXIST'
        ? `The data folder ${folder} cannot be used, because it or a part of its path is a file. Set QUARTERMASTER_DATA to a folder.`
        : `The service cannot write to the data folder ${folder} (${code}). Make its user the owner, or set QUARTERMASTER_DATA to a folder that it can write to.`,
      { cause },
    );
  }
  await checkDataFolder(folder, logger);
}

/**
 * Checks the permissions of the data folder, which holds the content of all projects and the encryption key.
 * @throws OperatorError when all users of the machine can write to the folder
 */
export async function checkDataFolder(folder: string, logger: Logger): Promise<void> {
  const mode = await modeOf(folder);
  if (mode & access.writtenByOthers) {
    throw new OperatorError(
      `All users of this machine can write to the data folder ${folder} (mode ${octal(mode)}). ` +
        'Run "chmod o-w" on it, or set QUARTERMASTER_DATA to a folder inside of it, which is created with mode 0700.',
    );
  }
  if (mode & (access.writtenByGroup | access.readByOthers)) {
    logger.warn({ folder, mode: octal(mode), remedy: 'chmod 700' }, 'data folder open to other users');
  }
}

/**
 * Checks that each bundle folder of the settings exists, and the permissions of each bundle folder and of the bundles in it, because
 * the service runs their code. The folder of installed bundles may be missing.
 * @throws OperatorError when a folder of the settings is missing, or all users of the machine can write to one of them
 */
export async function checkBundleFolders(
  { installedBundles, bundleFolders }: Pick<Config, 'installedBundles' | 'bundleFolders'>,
  logger: Logger,
): Promise<void> {
  for (const folder of [installedBundles, ...bundleFolders]) {
    const isFolder = (await stat(folder).catch(() => undefined))?.isDirectory() === true;
    if (!isFolder && folder !== installedBundles) {
      throw new OperatorError(
        `QUARTERMASTER_BUNDLES names ${folder}, which is not a folder or cannot be read. Create the folder, or correct the setting.`,
      );
    }
    for (const path of [folder, ...(await foldersIn(folder))]) await checkBundleFolder(path, logger);
  }
}

async function checkBundleFolder(folder: string, logger: Logger): Promise<void> {
  const mode = await modeOf(folder);
  if (mode & access.writtenByOthers) {
    throw new OperatorError(
      `All users of this machine can write to the folder ${folder} (mode ${octal(mode)}), and the service runs the ` +
        'bundles in it. Run "chmod -R o-w" on it.',
    );
  }
  if (mode & access.writtenByGroup) {
    logger.warn({ folder, mode: octal(mode), remedy: 'chmod -R g-w' }, 'bundle folder writable by its group');
  }
}

/** The mode of a folder; 0 when it is missing. */
async function modeOf(folder: string): Promise<number> {
  return ((await stat(folder).catch(() => undefined))?.mode ?? 0) & 0o7777;
}

async function foldersIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => !entry.isFile()).map(({ name }) => join(folder, name));
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0');
}
