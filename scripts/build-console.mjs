// Builds the console into packages/console/dist when it is missing or its sources have changed. Vite bundles it, each
// file is also stored in Brotli, and a list of the files is written for the server. This is plain JavaScript because
// set-up.mjs runs it.
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';
import { installConsolePackages } from './set-up/install-packages.mjs';

const root = fileURLToPath(new URL('../', import.meta.url));
const folder = join(root, 'packages/console');
const dist = join(folder, 'dist');
const manifest = join(dist, 'manifest.json');
const packageName = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*\/node_modules\/)/;
const types = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
};

const sources = [
  'scripts/build-console.mjs',
  ...globSync('packages/console/{src,public}/**/*.*', { cwd: root }),
  ...globSync('packages/console/*.*', { cwd: root }),
  ...globSync(['{README,SECURITY}.md', 'docs/*.{md,svg}', 'docs/{guides,reference}/**/*.md'], { cwd: root }),
  ...globSync('examples/**/*.*', { cwd: root }),
  ...globSync('packages/{contract,client}/{package.json,src/*.ts}', { cwd: root }),
].sort();

/** Returns a hash of the names and contents of everything that the build reads. */
function fingerprint() {
  const hash = createHash('sha256');
  for (const file of sources)
    hash
      .update(file)
      .update('\0')
      .update(readFileSync(join(root, file)))
      .update('\0');
  return hash.digest('hex');
}

function isFresh(from) {
  return existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).from === from;
}

function compress(name) {
  const path = join(dist, name);
  const content = readFileSync(path);
  const digests = { identity: digest(content) };
  if (content.length > 512) {
    const br = brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: content.length } });
    writeFileSync(`${path}.br`, br);
    digests.br = digest(br);
    if (name.startsWith('assets/')) rmSync(path); // the service decompresses it for a client that does not read Brotli
  }
  const hash = digests.identity.slice(0, 22);
  return { name, type: types[extname(name)] ?? 'application/octet-stream', hash, digests };
}

function digest(bytes) {
  return createHash('sha256').update(bytes).digest('base64url');
}

/** The names of the packages whose code is in the built files. */
function packagesOf(output) {
  const modules = output.flatMap(({ modules = {} }) => Object.entries(modules));
  const names = modules.map(([path, { renderedLength }]) => renderedLength > 0 && packageName.exec(path)?.[1]);
  return [...new Set(names.filter(Boolean))].sort();
}

const from = fingerprint();
if (!isFresh(from)) {
  await installConsolePackages();
  console.error('quartermaster: building the console');
  const { build } = await import(pathToFileURL(createRequire(join(folder, 'package.json')).resolve('vite')));
  rmSync(manifest, { force: true });
  const { output } = await build({ root: folder, logLevel: 'warn' });
  const names = globSync('**/*.*', { cwd: dist })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => statSync(join(dist, name)).isFile())
    .sort();
  const list = { from, packages: packagesOf(output), files: names.map(compress) };
  writeFileSync(manifest, JSON.stringify(list, null, 1));
}
