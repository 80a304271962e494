import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');

/**
 * Provides the archives of a release in a new folder. The first file of a test run builds them, and the others copy them.
 * @returns their paths by the name of the package
 */
export async function provideArchives(folder: string): Promise<ReadonlyMap<string, string>> {
  const { QUARTERMASTER_TEST_SHARED: ofRun } = process.env;
  if (ofRun === undefined) return await buildArchives(folder);
  const shared = join(ofRun, 'archives');
  const own = `${shared}-${process.pid}`;
  try {
    await readdir(shared);
  } catch {
    await buildArchives(own);
    await rm(join(own, 'build'), { recursive: true });
    // Of two files that build at the same time, the second one fails here and uses the archives of the first.
    await rename(own, shared).catch(() => rm(own, { recursive: true }));
  }
  await cp(shared, folder, { recursive: true });
  return await listArchives(folder);
}

/** Builds the archives of a release into a folder. @returns their paths by the name of the package */
export async function buildArchives(folder: string): Promise<ReadonlyMap<string, string>> {
  await run(process.execPath, ['scripts/packages.ts', folder], { cwd: root });
  return await listArchives(folder);
}

async function listArchives(folder: string): Promise<ReadonlyMap<string, string>> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.tgz'));
  return new Map(names.map((name) => [name.replace(/-\d+\.\d+\.\d+.*$/, ''), join(folder, name)]));
}

/** Installs archives and packages of the registry into an empty folder, as a user does. */
export async function installInto(folder: string, packages: readonly string[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', folder, ...packages], {
    cwd: folder,
  });
}
