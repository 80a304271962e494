// Installs packages once per lockfile, in two places. The root has what the service needs (group `run`) and what tests
// and checks need in addition (group `all`). packages/console has what the build of the console and of the bundle needs. This is plain
// JavaScript without packages, because it runs on the Node.js of the host before anything is installed.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findDamagedPackages } from './check-installed.mjs';
import { refuse } from './refuse.mjs';

const stamp = 'node_modules/.installed-from';
/** What nothing loads: the headers of Node.js, which compile extensions, and the copies of a package in other forms. */
const unused = [
  `node-${process.platform}-${process.arch}/include`,
  ...['cjs', 'data', 'src'].map((form) => `gpt-tokenizer/${form}`),
];
const common = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];

/**
 * Installs the packages of the current folder. An installed group stays, even when the lockfile changes. The stamp is
 * removed first and written after a check of every package, so that an interrupted or damaged installation starts again.
 * @param {'run' | 'all'} wanted
 */
export async function installPackages(wanted) {
  const lock = digestLock('.');
  const [installedLock, installedGroup] = read(stamp).split(' ');
  const isCurrent = installedLock === lock;
  // An interrupted update or a deleted folder leaves a package incomplete. The check takes a few milliseconds.
  const damaged = isCurrent ? findDamagedPackages('.', installedGroup) : [];
  if (damaged.length > 0) console.error(`quartermaster: ${damaged[0]} is missing or incomplete`);
  else if (isCurrent && (installedGroup === 'all' || wanted === 'run')) return;
  const group = installedGroup === 'all' ? 'all' : wanted;
  console.error(
    group === 'run'
      ? 'quartermaster: installing the packages that the service needs (once; about 240 MB)'
      : 'quartermaster: installing the packages for tests (once; about 330 MB in all)',
  );
  rmSync(stamp, { force: true });
  // `ci` deletes the installed packages; `install` adds the missing ones from the same lockfile.
  await npm([
    ...(isCurrent && damaged.length === 0 ? ['install', '--no-save'] : ['ci']),
    ...(group === 'run' ? ['--omit=dev'] : []),
  ]);
  for (const folder of unused) rmSync(join('node_modules', folder), { recursive: true, force: true });
  refuseDamage('.', group);
  writeFileSync(stamp, `${lock} ${group}`);
}

const consoleFolder = 'packages/console';
/** The programs of others that `test/compat` compares the service with. */
const compatFolder = 'test/compat';
/** What `npm run bench -- peers` measures beside the service. */
const peersFolder = 'bench/peers';
const biomeFolder = 'scripts/biome';

/** Returns whether the packages that build the console are installed, from this or an earlier lockfile. */
export function hasConsolePackages() {
  return existsSync(join(consoleFolder, stamp));
}

/** Installs the packages that build the console. */
export async function installConsolePackages() {
  await installFolder(
    consoleFolder,
    'the packages that build the console (about 100 MB; "npm start" removes them after the build)',
  );
}

/** Installs the programs of others that the tests in `test/compat` start. */
export async function installCompatPackages() {
  await installFolder(compatFolder, 'the programs of others for test/compat (about 240 MB)');
}

/** Installs the programs that the bench `peers` starts. */
export async function installPeerPackages() {
  await installFolder(peersFolder, 'the programs of others for bench/peers (about 650 MB)');
}

/** Installs the formatter and linter. */
export async function installBiome() {
  await installFolder(biomeFolder, 'Biome, which formats and lints (about 70 MB)');
  const link = 'node_modules/.bin/biome';
  rmSync(link, { force: true });
  symlinkSync('../../scripts/biome/node_modules/.bin/biome', link);
}

async function installFolder(folder, what) {
  const lock = digestLock(folder);
  if (read(join(folder, stamp)) === lock) return;
  console.error(`quartermaster: installing ${what}`);
  rmSync(join(folder, stamp), { force: true });
  await npm(['ci', `--prefix=${folder}`]);
  refuseDamage(folder, 'all');
  writeFileSync(join(folder, stamp), lock);
}

/** Removes the packages that only the build needs, because the service serves the built files. */
export function removeConsolePackages() {
  rmSync(join(consoleFolder, 'node_modules'), { recursive: true, force: true });
}

async function npm(args) {
  const child = spawn('npm', [...args, ...common], { stdio: ['ignore', 'inherit', 'inherit'] });
  const [code, signal] = await once(child, 'exit').catch((error) => [error.code, null]);
  if (code === 0) return;
  const end = signal ? `was stopped by ${signal}` : `ended with ${code}`;
  refuse(
    `The packages are not installed: npm ${end}. Check the connection to the npm registry, the free space and that ` +
      'this folder is writable, then run the same command again.',
  );
}

function refuseDamage(folder, group) {
  const [first, ...others] = findDamagedPackages(folder, group);
  if (first === undefined) return;
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  refuse(
    `npm has left packages incomplete or of another version: ${join(folder, first)}${more}. Run the same command again; ` +
      'it installs all packages from scratch.',
  );
}

function digestLock(folder) {
  return createHash('sha256')
    .update(readFileSync(join(folder, 'package-lock.json')))
    .digest('hex');
}

function read(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}
