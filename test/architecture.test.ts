import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { test } from 'node:test';

/**
 * Who may import whom. The table is the architecture: ARCHITECTURE.md shows it as a picture. A file under test is a
 * source file that is neither a test nor a suite nor a fixture of one.
 */
const root = resolve(import.meta.dirname, '..');
const server = 'packages/server/src';

/** What another room may import of a room: its ports and its vocabulary, nothing else. */
const doors = new Set(
  [
    'files/blob-store.ts',
    'files/file-access.ts',
    'extraction/extraction.ts',
    'search/analysis/words.ts',
    'extraction/zip-directory.ts',
    'extraction/chunking/check-splitter.ts',
    'search/embedding/embedder.ts',
    'search/embedding/vector-index.ts',
    'search/embedding/vectors.ts',
    'catalogue/catalogue.ts',
    'catalogue/problems.ts',
    'egress/broker.ts',
    'processes/isolation/cgroup/cgroups.ts',
    'processes/isolation/cgroup/open-cgroups.ts',
    'processes/isolation/find-isolation.ts',
    'processes/isolation/probe.ts',
    'processes/isolation/spawn-isolated.ts',
    'processes/frames.ts',
    'processes/memory-watch.ts',
    'processes/parent-channel.ts',
    'processes/supervised-process.ts',
    'ingestion/page-fetcher.ts',
    'jobs/job.ts',
    'jobs/retry-policy.ts',
    'jobs/heartbeat.ts',
    'jobs/worker.ts',
    'idempotency/idempotency.ts',
    'idempotency/idempotency-repository.ts',
    'catalogue/provider-formats/mcp.ts',
    'execution/answers.ts',
    'execution/background.ts',
    'catalogue/credential-bounds.ts',
    'execution/credentials-header.ts',
    'execution/executor.ts',
    'execution/outcome.ts',
    'execution/problems.ts',
    'execution/run-journal.ts',
    'execution/run-trace.ts',
    'execution/run-once.ts',
    'access/projects/problems.ts',
    'access/keys/key-ring.ts',
    'access/credential-profiles/resolve-credentials.ts',
  ].map((path) => `${server}/${path}`),
);

const rooms = [
  'administrators',
  'profiles',
  'console',
  'backup',
  'files',
  'collections',
  'extraction',
  'embedding',
  'projects',
  'catalogue',
  'execution',
  'idempotency',
  'isolation',
  'jobs',
  'mcp',
  'processes',
  'runs',
];

interface Import {
  readonly from: string;
  /** A path from the root, or a package name. */
  readonly to: string;
  readonly typeOnly: boolean;
}

const files = globSync(['packages/*/src/**/*.{ts,tsx}', 'bundles/**/*.ts'], { cwd: root })
  .map(String)
  .filter((file) => !/\.(test|suite|fixture)\.ts$/.test(file));
const imports = files.flatMap(importsOf);

test('there is something to check', () => {
  assert.ok(files.length > 60, `only ${files.length} files found`);
  assert.ok(imports.length > 200, `only ${imports.length} imports found`);
});

test('packages import only the packages below them', () => {
  const allowed: Record<string, readonly string[]> = {
    contract: [],
    'plugin-kit': ['contract'],
    server: ['contract', 'plugin-kit'],
    client: ['contract'],
    cli: ['client', 'server', 'plugin-kit', 'contract'],
    console: ['client', 'contract'],
  };
  expectNone(imports, ({ from, to }) => {
    const own = /^packages\/([^/]+)\//.exec(from)?.[1];
    const other = /^@quartermaster\/([^/]+)/.exec(to)?.[1];
    if (own === undefined || other === undefined) return false;
    return !(allowed[own] ?? []).includes(other);
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

test('the kernel imports nothing of the server', () => {
  expectNone(imports, ({ from, to }) => inFolder(from, 'kernel') && to.startsWith(server) && !inFolder(to, 'kernel'));
});

test('a room imports another room only through its doors, and neither adapters nor http', () => {
  expectNone(imports, ({ from, to, typeOnly }) => {
    const room = rooms.find((name) => inFolder(from, name));
    if (room === undefined || !to.startsWith(`${server}/`)) return false;
    if (inFolder(to, room) || inFolder(to, 'kernel') || doors.has(to)) return false;
    const gate = to === `${server}/http/gate.ts` || to === `${server}/http/app.ts`;
    return !(gate && typeOnly && from.endsWith('routes.ts'));
  });
});

test('only http and the routes of a room know Fastify', () => {
  expectNone(
    imports,
    ({ from, to }) => /^(fastify|@fastify\/.*)$/.test(to) && !inFolder(from, 'http') && !/[/-]routes\.ts$/.test(from),
  );
});

test('adapters import the kernel, the ports they fill, and each other', () => {
  expectNone(imports, ({ from, to }) => {
    if (!inFolder(from, 'adapters') || !to.startsWith(`${server}/`)) return false;
    if (inFolder(to, 'adapters') || inFolder(to, 'kernel') || doors.has(to)) return false;
    return !/-(repository|store|port)\.ts$/.test(to);
  });
});

test('the children import their protocol and the plugin kit only', () => {
  expectNone(imports, ({ from, to, typeOnly }) => {
    if (!/\/execution\/sandbox\/(child|handler-context)\.ts$/.test(from)) return false;
    return !(
      /\/(protocol|handler-context)\.ts$/.test(to) ||
      to === '@quartermaster/plugin-kit' ||
      typeOnly ||
      to.startsWith('node:')
    );
  });
});

test('the environment is read in config.ts only', () => {
  // A browser has no environment; the console shows programs that read theirs.
  const readers = files.filter(
    (file) =>
      /process\.env\b/.test(withoutComments(file)) &&
      file !== `${server}/config.ts` &&
      !file.startsWith('packages/console/'),
  );
  assert.deepEqual(readers, []);
});

test('no import goes round in a circle', () => {
  const graph = Map.groupBy(
    imports.filter(({ to, typeOnly }) => !typeOnly && files.includes(to)),
    ({ from }) => from,
  );
  const done = new Set<string>();
  const walk = (file: string, path: readonly string[]): void => {
    assert.ok(!path.includes(file), `circle: ${[...path.slice(path.indexOf(file)), file].join(' → ')}`);
    if (done.has(file)) return;
    for (const { to } of graph.get(file) ?? []) walk(to, [...path, file]);
    done.add(file);
  };
  for (const file of files) walk(file, []);
});

test('no file is longer than 300 lines', () => {
  const written = files.filter((file) => !file.includes('/generated/'));
  const long = written.filter((file) => readFileSync(resolve(root, file), 'utf8').split('\n').length > 301);
  assert.deepEqual(long, []);
});

test('no folder or file has a name that says nothing', () => {
  const empty = /(^|\/)(utils?|helpers?|services?|common|shared|lib|misc|index)(\/|\.tsx?$)/;
  assert.deepEqual(
    files.filter((file) => empty.test(file)),
    [],
  );
});

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
  return [...statements].map(([, type, to = '']) => ({
    from: file,
    to: to.startsWith('.') ? relative(root, resolve(root, dirname(file), to)) : to,
    typeOnly: type !== undefined,
  }));
}

function withoutComments(file: string): string {
  return readFileSync(resolve(root, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
}
