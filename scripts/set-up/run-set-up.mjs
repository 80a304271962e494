// The set-up, which does each step once. `run` installs what the service needs, builds the console and bundles the service.
// `dev` also keeps the packages that build. `test` adds what tests need, and `all` what checks and benches need. This is
// plain JavaScript, because it runs on the Node.js of the host before anything is installed.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { chooseNode } from './choose-node.mjs';
import {
  hasConsolePackages,
  installBiome,
  installConsolePackages,
  installPackages,
  removeConsolePackages,
} from './install-packages.mjs';
import { refuse } from './refuse.mjs';

// npm does the same for its scripts. `node` is the one that chooseNode links.
process.env.PATH = `${resolve('node_modules/.bin')}${delimiter}${process.env.PATH ?? ''}`;
const group = process.argv[2] ?? 'all';
await installPackages('run');
chooseNode(process.env.QUARTERMASTER_NODE || 'pinned');
// `quartermaster verify` compares with these hashes. They are computed right after npm has compared each package with
// the lockfile.
const hashList = 'node_modules/.hashes.json';
/** Changes with each bundle of the service. */
const serviceBundle = 'packages/server/dist/bundled-from';
if (!existsSync(hashList)) writeHashes('--installed');
await build();
warmUp();
// The packages that build are removed first, which keeps the most that is installed at a time small.
if (group === 'test' || group === 'all') await installPackages('all');
if (group === 'all') await installBiome();
// Only the compiler and editors read the types of the client.
if (group !== 'run') execFileSync('node', ['scripts/client-types.ts'], { stdio: ['ignore', 'ignore', 'inherit'] });

/** Builds the console and the bundle of the service from their sources, with the Node.js that was just installed. */
async function build() {
  const lists = ['packages/console/dist/manifest.json', serviceBundle];
  const before = lists.map(read).join();
  const keepsPackages = group === 'dev' || group === 'all' || hasConsolePackages();
  if (keepsPackages) await installConsolePackages();
  try {
    for (const script of ['build-console.mjs', 'bundle-service.ts']) {
      execFileSync('node', [`scripts/${script}`], { stdio: ['ignore', 'ignore', 'inherit'] });
    }
  } catch {
    refuse('The console or the service is not built; the reason is above. Remove it, then run the same command again.');
  }
  if (!keepsPackages) removeConsolePackages();
  if (lists.map(read).join() !== before) writeHashes('--built');
}

/**
 * Writes the caches for a start (bundles, compiled code). An update or a change of a bundle writes them again, and so does
 * another folder: the caches of a copied installation hold the paths of the original.
 */
function warmUp() {
  const stamp = 'node_modules/.cache/warmed-from';
  const warm = digestFiles(resolve('.'), ['package-lock.json', serviceBundle, ...versionFiles(), ...bundleFiles()]);
  if (read(stamp) === warm) return;
  try {
    execFileSync('node', ['scripts/warm-up.ts'], { stdio: ['ignore', 'ignore', 'inherit'] });
    mkdirSync('node_modules/.cache', { recursive: true });
    writeFileSync(stamp, warm);
  } catch (error) {
    // For example, the installation is read-only. The service does not need its caches.
    console.error(
      `quartermaster: a start takes longer, because its caches cannot be written (${error.code ?? error.status})`,
    );
  }
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

function digestFiles(folder, files) {
  const all = createHash('sha256').update(`${folder}\n`);
  for (const file of files) all.update(`${file}\n`).update(existsSync(file) ? readFileSync(file) : '');
  return all.digest('hex');
}

/** Returns the files that determine the version of the product and of the manifest cache. */
function versionFiles() {
  const server = 'packages/server';
  return [join(server, 'package.json'), join(server, 'src/tools/catalogue/load/manifest-cache.ts')];
}

/** Returns the files of the bundles without their recordings and tests, which are in subfolders. */
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
