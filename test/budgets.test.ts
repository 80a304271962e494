import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { settings } from '../packages/server/src/app/settings/settings.ts';
import { modules } from './support/modules.ts';

/** `most` is the ceiling of now. It falls with the code until it reaches `goal`; it rises only with a reason in its commit. */
interface Budget {
  readonly most: number;
  readonly goal: number;
}

const budgets = JSON.parse(readFileSync('test/budgets.json', 'utf8')) as {
  readonly lines: Readonly<Record<string, Budget>>;
} & Readonly<Record<'settings' | 'npm scripts', Budget>>;

const isTest = (file: string) => /\.(?:test|suite|fixture)\.|\/(?:testing|tests|hostile)\/|^test\//.test(file);

/** The parts that have a budget, with the files of each. A file may belong to two. */
const parts: Readonly<Record<string, (file: string) => boolean>> = {
  server: (file) => file.startsWith('packages/server/src/') && !isTest(file),
  shipped: (file) => /^(?:packages|bundles|clients)\//.test(file) && !isTest(file),
  tests: isTest,
  'bench, proof and scripts': (file) => /^(?:bench|proof|scripts)\//.test(file) && !isTest(file),
  ...Object.fromEntries(
    Object.keys(modules).map((name) => [
      name,
      (file: string) => file.startsWith(`packages/server/src/${name}/`) && !isTest(file),
    ]),
  ),
};

/** Returns the lines of code without blank lines and comments. */
function countLines(file: string): number {
  const text = readFileSync(file, 'utf8');
  const isPython = file.endsWith('.py');
  const code = isPython ? text : text.replaceAll(/\/\*.*?\*\//gs, '');
  return code.split('\n').filter((line) => line.trim() !== '' && !line.trimStart().startsWith(isPython ? '#' : '//'))
    .length;
}

function findSources(): string[] {
  const folders = ['packages', 'bundles', 'clients', 'bench', 'proof', 'scripts', 'test'];
  // What the set-up and the wheel of the Python client build is no source.
  const built = /(?:^|\/)(?:node_modules|dist|build|generated|_sync|quartermaster\/(?:_operations|types)\.py)$/;
  return folders.flatMap((folder) =>
    globSync(`${folder}/**/*.{ts,tsx,js,mjs,mts,py,css}`, { exclude: (path) => built.test(path) }),
  );
}

test('the code of each part stays within its budget', (t) => {
  const lines = findSources().map((file) => ({ file, count: countLines(file) }));
  assert.ok(lines.length > 1_500, `only ${lines.length} files`);
  assert.deepEqual(Object.keys(budgets.lines), Object.keys(parts));
  for (const [name, belongs] of Object.entries(parts)) {
    const count = lines.reduce((sum, { file, count: own }) => sum + (belongs(file) ? own : 0), 0);
    assertWithin(t, `lines of ${name}`, { count, ...(budgets.lines[name] ?? { most: 0, goal: 0 }) });
  }
});

test('the settings and the npm scripts stay within their budgets', (t) => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: object };
  assertWithin(t, 'settings', { count: Object.keys(settings).length, ...budgets.settings });
  assertWithin(t, 'npm scripts', { count: Object.keys(scripts).length, ...budgets['npm scripts'] });
});

function assertWithin(
  t: { diagnostic(text: string): void },
  name: string,
  { count, most, goal }: Budget & { readonly count: number },
): void {
  t.diagnostic(`${name}: ${count} of ${most}${most > goal ? `, goal ${goal}: not met yet` : ''}`);
  assert.ok(count <= most, `${name}: ${count}; test/budgets.json allows ${most}`);
}
