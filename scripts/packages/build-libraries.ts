import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { repositoryOf } from './compile.ts';

interface LibraryManifest {
  readonly name: string;
  readonly version: string;
  readonly exports: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly [member: string]: unknown;
}

/** The packages that other programs import, by their folders. */
const libraries = ['client', 'plugin-kit'];

/**
 * Writes the folder of each library into `out`: the compiled modules that its exports reach, and their types.
 * @param compiled the folder that `compile` wrote @returns the folders
 */
export function buildLibraries(root: string, compiled: string, out: string): string[] {
  return libraries.map((name) => buildLibrary({ root, compiled, name, folder: join(out, name) }));
}

interface Library {
  readonly root: string;
  readonly compiled: string;
  readonly name: string;
  readonly folder: string;
}

function buildLibrary({ root, compiled, name, folder }: Library): string {
  const source = join(root, 'packages', name);
  const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as LibraryManifest;
  const entries = Object.entries(manifest.exports).map(([path, file]) => {
    const module = join('packages', name, file).replace(/\.ts$/, '');
    return { path, module };
  });
  const starts = entries.flatMap(({ module }) => [`${module}.js`, `${module}.d.ts`]);
  const { files, packages } = findReachable(compiled, starts);
  for (const file of files) {
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    cpSync(join(compiled, file), join(folder, file));
  }
  for (const file of ['LICENSE', join('packages', name, 'README.md')]) {
    cpSync(join(root, file), join(folder, file.split('/').at(-1) ?? file));
  }
  const { private: _, devDependencies: __, ...published } = manifest;
  const exports = Object.fromEntries(
    entries.map(({ path, module }) => [path, { types: `./${module}.d.ts`, default: `./${module}.js` }]),
  );
  const dependencies = versionsOf(root, packages);
  const content = { ...published, repository: repositoryOf(root), exports, files: ['packages'], dependencies };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(content, null, 2)}\n`);
  return folder;
}

/** Follows the imports of compiled modules and of their types. */
function findReachable(folder: string, starts: readonly string[]) {
  const files = new Set(starts);
  const packages = new Set<string>();
  // A set yields what is added during the iteration.
  for (const file of files) {
    for (const specifier of importsOf(readFileSync(join(folder, file), 'utf8'))) {
      if (!specifier.startsWith('.')) packages.add(/^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier);
      else {
        const path = relative('.', join(dirname(file), specifier)).replace(/\.ts$/, '.js');
        files.add(file.endsWith('.d.ts') ? path.replace(/\.js$/, '.d.ts') : path);
      }
    }
  }
  return { files, packages: [...packages].filter((name) => !name.startsWith('node:')).sort() };
}

/** The specifiers of imports, without those that a comment shows. */
function importsOf(source: string): string[] {
  const code = source.replaceAll(/^ *(?:\*|\/\/).*$/gm, '');
  return [...code.matchAll(/(?:\bfrom |\bimport\()['"]([^'"]+)['"]/g)].map(([, specifier = '']) => specifier);
}

/** The exact versions of packages, as the workspaces declare them. */
function versionsOf(root: string, packages: readonly string[]): Record<string, string> {
  const declared = Object.assign(
    {},
    ...['contract', ...libraries].map((name) => {
      const manifest = readFileSync(join(root, 'packages', name, 'package.json'), 'utf8');
      return (JSON.parse(manifest) as LibraryManifest).dependencies;
    }),
  ) as Record<string, string>;
  return Object.fromEntries(
    packages.map((name) => {
      const version = declared[name];
      if (version === undefined) throw new Error(`No package declares the dependency ${name}.`);
      return [name, version];
    }),
  );
}
