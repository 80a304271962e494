// `npm run script -- outdated-packages` lists the outdated production packages. Our own dependencies are compared with the newest version,
// and their dependencies with the newest version that they allow. Run it after `npm ci` here, in packages/console and
// in packages/server/onnx-runtime. It skips a folder without installed packages.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

interface Version {
  readonly current?: string;
  readonly wanted: string;
  readonly latest: string;
  /** The package that depends on it. */
  readonly dependent: string;
}

interface Locked {
  readonly dev?: boolean;
  readonly link?: boolean;
}

const root = join(import.meta.dirname, '..');
const folders = ['.', 'packages/console', 'packages/server/onnx-runtime'];

/** Returns the installed packages for which the registry has a newer version, each as `name@version`. */
function findOutdated(folder: string): ReadonlyMap<string, Version> {
  const args = ['outdated', '--all', '--omit=dev', '--json'];
  const { stdout, stderr, error } = spawnSync('npm', args, { cwd: folder, encoding: 'utf8', timeout: 300_000 });
  if (error !== undefined || !stdout.trimStart().startsWith('{')) {
    throw new Error(`npm outdated failed: ${error?.message ?? stderr}`);
  }
  const answer = JSON.parse(stdout) as Record<string, Version | Version[]> | { error: unknown };
  if ('error' in answer) throw new Error(`npm outdated failed: ${JSON.stringify(answer.error)}`);
  const found = Object.entries(answer).flatMap(([name, versions]) =>
    [versions].flat().map((version) => [`${name}@${version.current}`, version] as const),
  );
  return new Map(found);
}

function countProduction(folder: string): number {
  const lock = readFileSync(join(folder, 'node_modules/.package-lock.json'), 'utf8');
  const { packages } = JSON.parse(lock) as { packages: Record<string, Locked> };
  return Object.values(packages).filter(({ dev, link }) => !dev && !link).length;
}

/** Returns the version that should be installed, or undefined when the package is current. */
function findTarget({ current, wanted, latest, dependent }: Version, folder: string): string | undefined {
  // npm names the package of the folder after the folder.
  const isOurs = dependent === basename(folder) || dependent.startsWith('@quartermaster/');
  const target = isOurs ? latest : wanted;
  return current === undefined || current === target ? undefined : target;
}

let behind = 0;
for (const name of folders) {
  const folder = join(root, name);
  if (!existsSync(join(folder, 'node_modules'))) {
    console.log(`${name}: not installed`);
    continue;
  }
  for (const [installed, version] of findOutdated(folder)) {
    const target = findTarget(version, folder);
    if (target === undefined) continue;
    behind += 1;
    console.log(`${name}: ${installed} is behind ${target}`);
  }
  console.log(`${name}: ${countProduction(folder)} production packages`);
}
console.log(`${behind} packages are behind`);
process.exitCode = behind === 0 ? 0 : 1;
