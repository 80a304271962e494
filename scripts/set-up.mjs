// Installs the dependencies once per lockfile. Plain JavaScript without imports of ours: it runs before anything is
// installed, on whatever Node the host has; the pinned Node arrives with the installation.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const stamp = 'node_modules/.installed-from';
const wanted = createHash('sha256').update(readFileSync('package-lock.json')).digest('hex');

if (read(stamp) !== wanted) {
  console.error('quartermaster: installing dependencies (once)');
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  writeFileSync(stamp, wanted);
}
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
execFileSync('node', ['scripts/build-console.mjs'], { stdio: ['ignore', 'ignore', 'inherit'] });

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
