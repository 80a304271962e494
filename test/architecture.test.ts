import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { test } from 'node:test';
import { connectors, modules } from './support/modules.ts';

/**
 * Checks which file may import which. `support/modules.ts` lists the modules of the server. The checked files are
 * source files without tests, and without the suites and fixtures in folders named `testing`.
 */
const root = resolve(import.meta.dirname, '..');
const server = 'packages/server/src';

interface Import {
  readonly from: string;
  /** A path from the root, or a package name. */
  readonly to: string;
  readonly typeOnly: boolean;
  /** `import('…')`: loaded later, or the type of what it would load. */
  readonly isCall: boolean;
}

const files = globSync(['packages/*/src/**/*.{ts,mts,tsx}', 'bundles/**/*.ts'], { cwd: root })
  .map(String)
  .filter((file) => !/\.(test|suite|fixture)\.ts$|\/testing\//.test(file));
const imports = files.flatMap(importsOf);
/** The imports from one module of the server to another. */
const crossing = imports.filter(({ from, to }) => {
  const [own, other] = [moduleOf(from), moduleOf(to)];
  return own !== undefined && other !== undefined && own !== other;
});

test('there is something to check', () => {
  assert.ok(files.length > 60, `only ${files.length} files found`);
  assert.ok(imports.length > 200, `only ${imports.length} imports found`);
});

/** The packages, and the packages that each of them may import. */
const packages: Record<string, readonly string[]> = {
  contract: [],
  'plugin-kit': ['contract'],
  importers: ['contract', 'plugin-kit'],
  server: ['contract', 'plugin-kit', 'importers'],
  client: [],
  cli: ['client', 'server', 'plugin-kit', 'contract', 'importers'],
  console: ['client', 'contract'],
};

test('every package and every file beside the modules of the server is listed', () => {
  const found = new Set(globSync('packages/*/src', { cwd: root }).map((path) => path.split(/[\\/]/)[1]));
  assert.deepEqual([...found].sort(), Object.keys(packages).sort());
  const beside = files.filter((file) => dirname(file) === server);
  assert.deepEqual(beside.sort(), [`${server}/main.ts`, `${server}/server.ts`]);
  // A module that imports such a file would reach every other one through it.
  expectNone(imports, ({ from, to }) => moduleOf(from) !== undefined && dirname(to) === server);
});

test('packages import only the packages below them', () => {
  expectNone(imports, ({ from, to }) => {
    const own = /^packages\/([^/]+)\//.exec(from)?.[1];
    const other = /^@quartermaster\/([^/]+)/.exec(to)?.[1];
    if (own === undefined || other === undefined) return false;
    return !(packages[own] ?? []).includes(other);
  });
});

test('nothing reaches into another package by a path', () => {
  expectNone(imports, ({ from, to }) => {
    const own = /^(packages\/[^/]+|bundles\/[^/]+)\//.exec(from)?.[1];
    return own !== undefined && /^(packages|bundles|test|scripts)\//.test(to) && !to.startsWith(`${own}/`);
  });
});

test('a handler of a bundle imports types only', () => {
  expectNone(imports, ({ from, typeOnly }) => from.startsWith('bundles/') && !typeOnly);
});

test('every folder of the server is a module of the table, and each module has files', () => {
  const folders = new Set(files.filter((file) => file.startsWith(`${server}/`)).map(moduleOf));
  folders.delete(undefined);
  assert.deepEqual([...folders].sort(), Object.keys(modules).sort());
});

test('a module imports the modules that the table names, and all of them', () => {
  const used = new Set(crossing.map(({ from, to }) => `${moduleOf(from)} → ${moduleOf(to)}`));
  const allowed = Object.entries(modules).flatMap(([name, { uses }]) => uses.map((other) => `${name} → ${other}`));
  const needed = [...used].filter((arrow) => !arrow.endsWith('→ platform'));
  assert.deepEqual(needed.sort(), allowed.sort());
});

test('no two modules import each other, directly or through others', () => {
  const visit = (name: string, path: readonly string[]): void => {
    assert.ok(!path.includes(name), `modules in a cycle: ${[...path.slice(path.indexOf(name)), name].join(' → ')}`);
    for (const other of modules[name]?.uses ?? []) visit(other, [...path, name]);
  };
  for (const name of Object.keys(modules)) visit(name, []);
});

test('inside a module no two folders of one folder import each other', () => {
  const arrows = new Map<string, string>();
  for (const { from, to } of imports) {
    if (!from.startsWith(`${server}/`) || !to.startsWith(`${server}/`)) continue;
    const [own, other] = [from.split('/'), to.split('/')];
    const at = own.findIndex((name, index) => name !== other[index]);
    // Files beside folders may import from both.
    if (at < 0 || at === own.length - 1 || at === other.length - 1) continue;
    arrows.set(`${own.slice(0, at + 1).join('/')} → ${other.slice(0, at + 1).join('/')}`, `${from} → ${to}`);
  }
  const both = [...arrows].filter(([arrow]) => arrows.has(arrow.split(' → ').reverse().join(' → ')));
  assert.deepEqual(
    both.map(([, example]) => example),
    [],
  );
});

test('a module imports only entry points of another, and every entry point is used', () => {
  const imported = new Set(
    crossing
      .filter(({ from, to }) => !connectors.has(moduleOf(from) ?? '') && moduleOf(to) !== 'platform')
      .map(({ to }) => to),
  );
  const entries = Object.entries(modules).flatMap(([name, rule]) =>
    rule.entries.map((entry) => `${server}/${name}/${entry}.ts`),
  );
  assert.deepEqual([...imported].sort(), entries.sort());
});

test('only routes import http, and only the types of an application and a guard', () => {
  expectNone(imports, ({ from, to, typeOnly }) => {
    if (!inFolder(to, 'platform/http') || inFolder(from, 'platform/http') || moduleOf(from) === 'app') return false;
    return !typeOnly && moduleOf(from) !== 'access';
  });
});

test('only http, the guards of access and the routes of a module import Fastify', () => {
  expectNone(
    imports,
    ({ from, to }) => /^(fastify|@fastify\/.*)$/.test(to) && !isGuard(from) && !/[/-]routes\.ts$/.test(from),
  );
});

test('the children import their protocol and the plugin kit only', () => {
  expectNone(imports, ({ from, to, typeOnly }) => {
    if (!/\/execution\/sandbox\/(child|handler-context)\.ts$/.test(from)) return false;
    return !(
      /\/(protocol|handler-context|processes\/(frames|parent-channel))\.ts$/.test(to) ||
      to === '@quartermaster/plugin-kit' ||
      typeOnly ||
      to.startsWith('node:')
    );
  });
});

test('only settings/environment.ts reads the environment', () => {
  // A browser has no environment. The console shows sample programs that read their own environment.
  const readers = files.filter(
    (file) =>
      /process\.env\b/.test(withoutComments(file)) &&
      file !== `${server}/app/settings/environment.ts` &&
      !file.startsWith('packages/console/'),
  );
  assert.deepEqual(readers, []);
});

test('only platform/envelope.ts of the server writes the success envelope', () => {
  const writers = files.filter(
    (file) => file.startsWith(`${server}/`) && /['"]success['"]/.test(withoutComments(file)),
  );
  assert.deepEqual(writers, [`${server}/platform/envelope.ts`]);
});

test('only platform/project-text.ts writes "no project" as a text', () => {
  const writes = (line: string) => /'-'/.test(line) && /project/i.test(line);
  const wrong = files.filter(
    (file) =>
      file.startsWith(server) &&
      withoutComments(file)
        .split('\n')
        .some((line) => writes(line)),
  );
  assert.deepEqual(wrong, [`${server}/platform/project-text.ts`]);
});

test('no files import each other in a cycle, type imports included', () => {
  const graph = Map.groupBy(
    imports.filter(({ to, isCall }) => files.includes(to) && !isCall),
    ({ from }) => from,
  );
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    assert.ok(!path.includes(file), `cycle: ${[...path.slice(path.indexOf(file)), file].join(' → ')}`);
    if (done.has(file)) return;
    for (const { to } of graph.get(file) ?? []) visit(to, [...path, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
});

test('the start of the service loads neither the SDK of MCP nor its schemas', () => {
  const loaded = new Set([`${server}/app/service/run.ts`]);
  // The iteration over a set includes items that are added during it.
  for (const file of loaded) {
    for (const { from, to, typeOnly, isCall } of imports) if (from === file && !typeOnly && !isCall) loaded.add(to);
  }
  assert.ok(loaded.has(`${server}/tools/mcp/routes.ts`) && loaded.has('fastify'));
  assert.deepEqual(
    [...loaded].filter((name) => /^(@modelcontextprotocol\/|zod)/.test(name)),
    [],
  );
});

test('no folder holds more than 30 production files', () => {
  const folders = Map.groupBy(files, (file) => dirname(file));
  const large = [...folders]
    .filter(([, { length }]) => length > 30)
    .map(([folder, { length }]) => `${folder}: ${length}`);
  assert.deepEqual(large, []);
});

test('no object literal is spread into another one', () => {
  const spread = files.filter((file) => /\.\.\.\{ ?\w/.test(withoutComments(file)));
  assert.deepEqual(spread, []);
});

test('no file is longer than 300 lines', () => {
  const written = files.filter((file) => !file.includes('/generated/'));
  const long = written.filter((file) => readFileSync(resolve(root, file), 'utf8').trimEnd().split('\n').length > 300);
  assert.deepEqual(long, []);
});

test('no folder or file has a name that says nothing', () => {
  const empty = /(^|\/)(utils?|helpers?|common|shared|lib|misc|index)(\/|\.tsx?$)/;
  assert.deepEqual(
    files.filter((file) => empty.test(file)),
    [],
  );
});

/** Returns the module of a file; undefined outside the server and for the files at its top. */
function moduleOf(path: string): string | undefined {
  return path.startsWith(`${server}/`) ? /^([^/]+)\//.exec(path.slice(server.length + 1))?.[1] : undefined;
}

/** Returns whether the file belongs to http, or is one of the files of access that authenticate requests. */
function isGuard(path: string): boolean {
  return inFolder(path, 'platform/http') || dirname(path) === `${server}/access`;
}

function inFolder(path: string, folder: string): boolean {
  return path.startsWith(`${server}/${folder}/`);
}

function expectNone(all: readonly Import[], isForbidden: (one: Import) => boolean): void {
  assert.deepEqual(
    all.filter(isForbidden).map(({ from, to }) => `${from} → ${to}`),
    [],
  );
}

function importsOf(file: string): Import[] {
  const source = readFileSync(resolve(root, file), 'utf8');
  const statements = source.matchAll(/^(?:import|export)\s+(type\s+)?(?:[^'";]*?\sfrom\s+)?'([^']+)';/gms);
  const calls = source.matchAll(/\bimport\(\s*'([^']+)'\s*\)/g);
  const toPath = (to: string) => (to.startsWith('.') ? relative(root, resolve(root, dirname(file), to)) : to);
  return [
    ...[...statements].map(([, type, to = '']) => ({
      from: file,
      to: toPath(to),
      typeOnly: type !== undefined,
      isCall: false,
    })),
    ...[...calls].map(([, to = '']) => ({ from: file, to: toPath(to), typeOnly: false, isCall: true })),
  ];
}

function withoutComments(file: string): string {
  return readFileSync(resolve(root, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
}
