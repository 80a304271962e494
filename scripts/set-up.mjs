// Installs the dependencies once per lockfile. Plain JavaScript without imports of ours: it runs before anything is
// installed, on whatever Node the host has; the pinned Node arrives with the installation.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

const stamp = 'node_modules/.installed-from';
const wanted = createHash('sha256').update(readFileSync('package-lock.json')).digest('hex');

if (read(stamp) !== wanted) {
  console.error('quartermaster: installing dependencies (once)');
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  writeFileSync(stamp, wanted);
}
chooseNode(process.env.QUARTERMASTER_NODE || 'pinned');
// `quartermaster verify` compares with hashes that are taken right after npm has compared each package with the lockfile.
const hashList = 'node_modules/.hashes.json';
if (!existsSync(hashList)) writeHashes('--installed');
// What the installation caches for a start (bundles, compiled code) is written again after an update or a change of a bundle.
const warmStamp = 'node_modules/.cache/warmed-from';
const warm = digestFiles(['package-lock.json', ...versionFiles(), ...bundleFiles()]);
if (read(warmStamp) !== warm) {
  try {
    execFileSync('npm', ['run', '--silent', 'warm-up'], { stdio: ['ignore', 'ignore', 'inherit'] });
    mkdirSync('node_modules/.cache', { recursive: true });
    writeFileSync(warmStamp, warm);
  } catch (error) {
    // For example an installation that is only read. The service does not need its caches.
    console.error(
      `quartermaster: a start takes longer, because its caches cannot be written (${error.code ?? error.status})`,
    );
  }
}
// The console is built once for its sources, by the Node that was just installed.
const consoleList = 'packages/console/dist/manifest.json';
const consoleBefore = read(consoleList);
execFileSync('node', ['scripts/build-console.mjs'], { stdio: ['ignore', 'ignore', 'inherit'] });
if (read(consoleList) !== consoleBefore) writeHashes('--console');

/** Makes `node` of the npm scripts the pinned one, or with `QUARTERMASTER_NODE=host` the one that runs npm. */
function chooseNode(choice) {
  if (choice !== 'pinned' && choice !== 'host') refuse(`QUARTERMASTER_NODE is "${choice}"; use "pinned" or "host".`);
  const link = 'node_modules/.bin/node';
  const name = `node-${process.platform}-${process.arch}`;
  const pinned = `../${name}/bin/node`;
  if (choice === 'pinned') {
    // On a platform without a pinned Node the scripts use the one of the host.
    if (!existsSync(join('node_modules', name))) return;
    checkPinned(join('node_modules', name, 'bin/node'));
    point(link, pinned);
    return;
  }
  const host = realpathSync(process.env.npm_node_execpath ?? process.execPath);
  const version = execFileSync(host, ['--version'], { encoding: 'utf8' }).trim();
  const required = Number(/\d+/.exec(JSON.parse(read('package.json')).engines.node)[0]);
  if (Number(/\d+/.exec(version)[0]) < required) {
    refuse(
      `QUARTERMASTER_NODE=host: ${host} is ${version}; ${required} or later is required. Install a newer Node.js, or unset QUARTERMASTER_NODE.`,
    );
  }
  point(link, host);
}

/** npm has compared the package with the lockfile when it installed it; this finds a binary that was replaced since. */
function checkPinned(file) {
  const stamp = 'node_modules/.cache/node-checked';
  const { size, mtimeMs, ctimeMs, ino } = statSync(file);
  const facts = `${size} ${mtimeMs} ${ctimeMs} ${ino}`;
  if (read(stamp) === facts) return;
  const expected = JSON.parse(read('scripts/node-checksums.json')).sha256[`${process.platform}-${process.arch}`];
  const found = createHash('sha256').update(readFileSync(file)).digest('hex');
  if (found !== expected) {
    refuse(
      `${file} has the SHA-256 ${found}; scripts/node-checksums.json records ${expected}. Delete node_modules and start again.`,
    );
  }
  try {
    mkdirSync('node_modules/.cache', { recursive: true });
    writeFileSync(stamp, facts);
  } catch {
    // An installation that is only read is compared at each start.
  }
}

function point(link, target) {
  if (existsSync(link) && readlinkSync(link) === target) return;
  mkdirSync(dirname(link), { recursive: true });
  rmSync(link, { force: true });
  symlinkSync(target, link);
}

function refuse(message) {
  console.error(`quartermaster: ${message}`);
  process.exit(1);
}

function writeHashes(which) {
  try {
    execFileSync('node', ['scripts/hash-list.ts', which], { stdio: ['ignore', 'ignore', 'inherit'] });
  } catch (error) {
    console.error(`quartermaster: hashes for "quartermaster verify" are not written (${error.code ?? error.status})`);
  }
}

function read(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

function digestFiles(files) {
  const all = createHash('sha256');
  for (const file of files) all.update(`${file}\n`).update(existsSync(file) ? readFileSync(file) : '');
  return all.digest('hex');
}

/** The version of the product and of the manifest cache. */
function versionFiles() {
  const server = 'packages/server';
  return [join(server, 'package.json'), join(server, 'src', 'catalogue', 'manifest-cache.ts')];
}

/** The files of the bundles, without their recordings and tests, which are in folders. */
function bundleFiles() {
  const contents = (folder) => readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  return contents('bundles')
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) =>
      contents(join('bundles', name))
        .filter((entry) => entry.isFile())
        .map((file) => join('bundles', name, file.name)),
    );
}
