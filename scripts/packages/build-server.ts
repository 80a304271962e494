import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { rolldown } from 'rolldown';
import { minifySync } from 'rolldown/experimental';
import { hashFiles, listShipped, releaseList, writeHashList } from '../../packages/cli/src/verify/shipped-files.ts';
import { filesBelow, repositoryOf } from './compile.ts';
import { describeComponents, isOfProduct, listComponents, writeNotices, writeShrinkwrap } from './components.ts';

interface Manifest {
  readonly version: string;
  readonly engines: { readonly node: string };
  readonly dependencies: Readonly<Record<string, string>>;
}

/** The font of pictures, with its notice. It is in the repository, because no package has a font under a licence of the list. */
const font = 'packages/server/src/tools/pictures/roboto';

const recipes = 'packages/importers/recipes';

/** The archive holds the part of these packages that `importer` needs. Whole, they take 3 MB, most of it types. */
const isBundled = (name: string) => name.startsWith('@scalar/');
const importer = 'packages/importers/src/openapi/read-document.js';

/** Writes the folder of the package `quartermaster` into `out`. @param compiled the folder that `compile` wrote @returns its path */
export async function buildServer(root: string, compiled: string, out: string): Promise<string> {
  const folder = join(out, 'quartermaster');
  copyCode(compiled, folder);
  await bundle(root, join(folder, importer));
  removeComments(folder);
  copyProgramFiles(root, folder);
  copyBundles(join(root, 'bundles'), join(folder, 'bundles'));
  cpSync(join(root, recipes), join(folder, recipes), { recursive: true });
  writeComponents(root, folder);
  const manifest = writeManifest(root);
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  writeFileSync(join(folder, 'npm-shrinkwrap.json'), writeShrinkwrap(root, manifest, isBundled));
  const hashes = await hashFiles(folder, await listShipped(folder));
  writeFileSync(join(folder, releaseList), writeHashList(hashes));
  return folder;
}

function copyCode(compiled: string, folder: string): void {
  for (const file of filesBelow(compiled).filter((path) => path.endsWith('.js'))) {
    cpSync(file, join(folder, file.slice(compiled.length + 1)));
  }
}

async function bundle(root: string, module: string): Promise<void> {
  const isExternal = (id: string) => !isBundled(id) && !id.startsWith('.') && !isAbsolute(id);
  const resolve = { modules: [join(root, 'node_modules')] };
  const built = await rolldown({ input: module, platform: 'node', external: isExternal, resolve });
  await built.write({ file: module });
}

/** Removes the comments of modules, which would be a tenth of the archive. */
function removeComments(folder: string): void {
  for (const file of filesBelow(folder).filter((path) => path.endsWith('.js'))) {
    writeFileSync(file, withoutComments(file, readFileSync(file, 'utf8')));
  }
}

function withoutComments(file: string, source: string): string {
  const options = { compress: false, mangle: false, codegen: { removeWhitespace: false } };
  const { code, errors } = minifySync(file, source, options);
  if (errors.length > 0) throw new Error(`${file}: ${errors.map(({ message }) => message).join(', ')}`);
  return code;
}

/** Files that are not compiled: the launcher, the thread of the watchdog, the font, the built console and the list of the ONNX runtime. */
function copyProgramFiles(root: string, folder: string): void {
  const paths = ['packages/console/dist', 'packages/server/onnx-runtime/package.json', font, 'LICENSE'];
  for (const path of paths) cpSync(join(root, path), join(folder, path), { recursive: true });
  for (const file of filesBelow(join(root, 'packages/server/src')).filter((path) => path.endsWith('.mjs'))) {
    const path = join(folder, file.slice(root.length + 1));
    writeFileSync(path, withoutComments(path, readFileSync(file, 'utf8')));
  }
  mkdirSync(join(folder, 'bin'));
  cpSync(join(root, 'scripts/packages/launcher.cjs'), join(folder, 'bin/quartermaster.cjs'));
  cpSync(join(root, 'scripts/packages/README.md'), join(folder, 'README.md'));
  const { version } = readManifest(root, 'packages/server');
  for (const name of ['cli', 'client', 'contract', 'importers', 'plugin-kit', 'server']) {
    writeFileSync(join(folder, 'packages', name, 'package.json'), JSON.stringify({ version, type: 'module' }));
  }
}

/**
 * Node.js does not strip types below node_modules: a handler `add.ts` becomes `add.mjs`, also in its manifest. The answers in `fixtures`
 * are left out, because only `bundle test` reads them.
 */
function copyBundles(from: string, to: string): void {
  for (const file of filesBelow(from).filter((path) => basename(dirname(path)) !== 'fixtures')) {
    const path = join(to, file.slice(from.length + 1));
    if (file.endsWith('.test.ts') || basename(file).startsWith('.')) continue;
    mkdirSync(join(path, '..'), { recursive: true });
    const content = readFileSync(file);
    if (file.endsWith('.ts')) {
      const handler = path.replace(/\.ts$/, '.mjs');
      writeFileSync(handler, withoutComments(handler, stripTypes(content.toString('utf8'))));
    } else if (file.endsWith('.yaml'))
      writeFileSync(path, content.toString('utf8').replace(/^(handler: .+)\.ts$/m, '$1.mjs'));
    else writeFileSync(path, content);
  }
}

function stripTypes(source: string): string {
  return stripTypeScriptTypes(source).replace(/(\bfrom '\.{1,2}\/[^']+)\.ts'/g, "$1.mjs'");
}

/** Writes the list of the packages of others, and their licences. The Node.js of a checkout is not part of the package. */
function writeComponents(root: string, folder: string): void {
  const { packages } = JSON.parse(readFileSync(join(root, 'packages/console/dist/manifest.json'), 'utf8')) as {
    packages: readonly string[]; // as scripts/build-console.mjs writes it
  };
  const ofServer = listComponents(root).filter(isOfProduct);
  const ofConsole = listComponents(root, 'packages/console').filter(({ name }) => packages.includes(name));
  const components = [...ofServer, ...ofConsole];
  const { version } = readManifest(root, '.');
  writeFileSync(join(folder, 'sbom.cdx.json'), `${JSON.stringify(describeComponents(version, components))}\n`);
  const fontNotice = readFileSync(join(root, font, 'NOTICE'), 'utf8');
  writeFileSync(
    join(folder, 'THIRD_PARTY_LICENSES'),
    `${writeNotices(root, components)}\n${'-'.repeat(80)}\n\n${fontNotice}`,
  );
}

function writeManifest(root: string) {
  const { version } = readManifest(root, '.');
  const dependencies = ['server', 'cli', 'client', 'contract', 'importers', 'plugin-kit'].flatMap((name) =>
    Object.entries(readManifest(root, `packages/${name}`).dependencies),
  );
  return {
    name: 'quartermaster',
    version,
    description: 'Document stores, question-answer stores and a catalogue of plugins for AI applications, self-hosted.',
    license: 'Apache-2.0',
    repository: repositoryOf(root),
    type: 'module',
    bin: { quartermaster: 'bin/quartermaster.cjs' },
    engines: readManifest(root, '.').engines,
    files: ['bin', 'bundles', 'packages', releaseList, 'npm-shrinkwrap.json', 'sbom.cdx.json', 'THIRD_PARTY_LICENSES'],
    dependencies: Object.fromEntries(
      dependencies
        .filter(([name]) => !name.startsWith('@quartermaster/') && !isBundled(name))
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    ),
  };
}

function readManifest(root: string, path: string): Manifest {
  const manifest = JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8')) as Partial<Manifest>;
  return { engines: { node: '>=24' }, version: '', dependencies: {}, ...manifest };
}
