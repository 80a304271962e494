// Installs packages once per lockfile, in two places. The root has what the service needs (group `run`) and what tests
// and checks need in addition (group `all`). packages/console has what the build of the console needs. This is plain
// JavaScript without packages, because it runs on the Node.js of the host before anything is installed.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { refuse } from './refuse.mjs';

const stamp = 'node_modules/.installed-from';
const common = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];

/**
 * Installs the packages of the current folder. An installed group stays, even when the lockfile changes. The stamp is
 * removed first, so that an interrupted installation starts again.
 * @param {'run' | 'all'} wanted
 */
export function installPackages(wanted) {
  const lock = digestLock('.');
  const [installedLock, installedGroup] = read(stamp).split(' ');
  const isCurrent = installedLock === lock;
  if (isCurrent && (installedGroup === 'all' || wanted === 'run')) return;
  const group = installedGroup === 'all' ? 'all' : wanted;
  console.error(
    group === 'run'
      ? 'quartermaster: installing the packages that the service needs (once; about 250 MB)'
      : 'quartermaster: installing the packages for development and tests (once; about 640 MB in all)',
  );
  rmSync(stamp, { force: true });
  // `ci` deletes the installed packages; `install` adds the missing ones from the same lockfile.
  npm([...(isCurrent ? ['install', '--no-save'] : ['ci']), ...(group === 'run' ? ['--omit=dev'] : [])]);
  // Removes the headers, which only the compilation of extensions needs. They are a quarter of the installation.
  rmSync(join('node_modules', `node-${process.platform}-${process.arch}`, 'include'), { recursive: true, force: true });
  writeFileSync(stamp, `${lock} ${group}`);
}

const consoleFolder = 'packages/console';

/** Returns whether the packages that build the console are installed, from this or an earlier lockfile. */
export function hasConsolePackages() {
  return existsSync(join(consoleFolder, stamp));
}

/** Installs the packages that build the console. */
export function installConsolePackages() {
  const lock = digestLock(consoleFolder);
  if (read(join(consoleFolder, stamp)) === lock) return;
  console.error(
    'quartermaster: installing the packages that build the console (about 100 MB; "npm start" removes them after the build)',
  );
  rmSync(join(consoleFolder, stamp), { force: true });
  npm(['ci', `--prefix=${consoleFolder}`]);
  writeFileSync(join(consoleFolder, stamp), lock);
}

/** Removes the packages that only the build needs, because the service serves the built files. */
export function removeConsolePackages() {
  rmSync(join(consoleFolder, 'node_modules'), { recursive: true, force: true });
}

function npm(args) {
  try {
    execFileSync('npm', [...args, ...common], { stdio: ['ignore', 'inherit', 'inherit'] });
  } catch (error) {
    const end = error.signal ? `was stopped by ${error.signal}` : `ended with ${error.status ?? error.code}`;
    refuse(
      `The packages are not installed: npm ${end}. Check the connection to the npm registry, the free space and that ` +
        'this folder is writable, then run the same command again.',
    );
  }
}

function digestLock(folder) {
  return createHash('sha256')
    .update(readFileSync(join(folder, 'package-lock.json')))
    .digest('hex');
}

function read(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}
