import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { type Tool, tools, toolsNamed } from './system-tools.ts';

const root = resolve(import.meta.dirname, '../..');
/** These files name every program without starting one. */
const table = 'test/support/system-tools.ts';
const guard = 'test/support/unit-guard.ts';
/** Matches the source of a module that starts the service or its command line as a process. */
const serviceMarker = /packages\/(?:server|cli)\/src\/main\.ts|'main\.ts'|scripts: \{ start: string/;

/** Matches the source of a module that installs packages of the registry. */
const installMarker = /'npm', \['(?:install|ci)'/;
/** The programs that the tier `test` may start: a database, a browser, and the sandbox of plugins and readers. */
const toolsOfTest: readonly string[] = ['postgresql', 'chromium', 'bubblewrap'];

/** Files that take more than two seconds of processor time. The tier `test` runs them, so that `test:unit` ends within a minute. */
export const longFiles: readonly string[] = [
  'packages/server/src/access/administrator/password.test.ts',
  'packages/server/src/adapters/search-index/index-kills.test.ts',
  'packages/server/src/adapters/search-index/index-rebuild.test.ts',
  'packages/server/src/adapters/sqlite/sqlite.test.ts',
  'packages/server/src/catalogue/load/bundle-failures.test.ts',
  'packages/server/src/catalogue/load/large-catalogue.test.ts',
  'packages/server/src/catalogue/load/load-catalogue.test.ts',
  'packages/server/src/catalogue/load/open-catalogue.test.ts',
  'packages/server/src/catalogue/provider-formats/formats.test.ts',
  'packages/server/src/egress/broker.test.ts',
  'packages/server/src/egress/redact/redactor.test.ts',
  'packages/server/src/execution/declarative/bounded-interpreter.test.ts',
  'packages/server/src/execution/isolation-policy.test.ts',
  'packages/server/src/extraction/chunking/splitters.test.ts',
  'packages/server/src/files/content-check/content-type-slices.test.ts',
  'packages/server/src/kernel/validation/length-keywords.test.ts',
  'packages/server/src/mcp/insert-tools.test.ts',
  'packages/server/src/search/segments/segments.test.ts',
  'packages/server/src/search/vector-codes/open-vector-index.test.ts',
  'test/bundles/calculator.test.ts',
  'test/bundles/portable-schemas.test.ts',
  'test/bundles/qr-code.test.ts',
  'test/compat/regular-expressions.test.ts',
];

/** The programs and services that one test file needs besides Node.js. */
export interface TestNeeds {
  readonly file: string;
  /** System programs by the name of the Debian package. */
  readonly tools: readonly Tool[];
  readonly startsService: boolean;
  /** Whether it installs packages, as users of an archive do. */
  readonly installsPackages: boolean;
}

export type Tier = 'test:unit' | 'test' | 'test:system';

/** Returns all test files except those on documents of third parties, or only those. */
export function findTestFiles(kind: 'own' | 'corpus'): string[] {
  return globSync(['packages/*/{src,test}/**/*.test.ts', 'test/**/*.test.ts'], {
    cwd: root,
    exclude: (path) => path.endsWith('node_modules'),
  })
    .filter((file) => file.endsWith('.corpus.test.ts') === (kind === 'corpus'))
    .sort();
}

/**
 * Returns the tier that runs the test file. `test:unit` starts neither a system program nor the service, and does not compute for
 * long. `test` starts no system program but PostgreSQL, Chromium and bubblewrap. `test:system` needs others, or installs packages.
 */
export function tierOf({ file, tools: needed, startsService, installsPackages }: TestNeeds): Tier {
  if (installsPackages || needed.some(({ name }) => !toolsOfTest.includes(name))) return 'test:system';
  return needed.length === 0 && !startsService && !longFiles.includes(file) ? 'test:unit' : 'test';
}

/**
 * Finds what a test file starts: the programs whose paths it, or a module that it loads, contains. A test that starts
 * the service also needs bubblewrap, because the service runs bundles and readers of documents in it.
 */
export function findTestNeeds(file: string): TestNeeds {
  const modules = loadedModules(relative(root, resolve(root, file)));
  const startsService = [...modules].some((name) => name !== guard && serviceMarker.test(readSource(name)));
  const installsPackages = [...modules].some((name) => name !== guard && installMarker.test(readSource(name)));
  const named = tools.filter(({ marker }) =>
    [...modules].some((name) => name !== table && marker.test(readSource(name))),
  );
  const needed = startsService ? new Set<Tool>([...named, ...toolsNamed('bubblewrap')]) : named;
  return { file, tools: [...needed], startsService, installsPackages };
}

function loadedModules(file: string): ReadonlySet<string> {
  const found = new Set([file]);
  // The iteration over a set includes items that are added during it.
  for (const name of found) for (const imported of importsOf(name)) found.add(imported);
  return found;
}

const imports = new Map<string, readonly string[]>();

/** Returns the modules of this repository that a module imports, except those imported only for their types. */
function importsOf(file: string): readonly string[] {
  const known = imports.get(file);
  if (known !== undefined) return known;
  const specifiers = [
    ...readSource(file).matchAll(
      /^(?:import|export)\s(?!type\b)[^;]*?['"]([^'"\n]+)['"];$|\bimport\(['"]([^'"\n]+)['"]\)/gm,
    ),
  ].map(([, declared, loaded]) => declared ?? loaded ?? '');
  const found = specifiers.flatMap((specifier) => resolveImport(file, specifier));
  imports.set(file, found);
  return found;
}

function resolveImport(file: string, specifier: string): string[] {
  if (specifier.startsWith('.')) {
    const path = join(dirname(file), specifier);
    // Tests also contain programs as text, whose imports are elsewhere.
    return /\.(ts|mjs)$/.test(path) && existsSync(join(root, path)) ? [path] : [];
  }
  const [, name, entry] = /^@quartermaster\/([a-z-]+)(\/.+)?$/.exec(specifier) ?? [];
  if (name === undefined) return [];
  const { exports } = JSON.parse(readSource(`packages/${name}/package.json`)) as { exports: Record<string, string> };
  return [join('packages', name, exports[`.${entry ?? ''}`] ?? '')];
}

const sources = new Map<string, string>();

function readSource(file: string): string {
  const known = sources.get(file);
  if (known !== undefined) return known;
  const source = readFileSync(join(root, file), 'utf8');
  sources.set(file, source);
  return source;
}
