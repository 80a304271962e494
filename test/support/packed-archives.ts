import { execFile } from 'node:child_process';
import { mkdir, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');

/** Builds the archives of a release into a folder. @returns their paths by the name of the package */
export async function buildArchives(folder: string): Promise<ReadonlyMap<string, string>> {
  await run(process.execPath, ['scripts/packages.ts', folder], { cwd: root });
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
