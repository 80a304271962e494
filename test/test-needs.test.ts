import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import { installCommand, mayInstall, provideTools, requireTools, type Tool } from './support/system-tools.ts';
import { groupTestFiles, writeGroups } from './support/test-groups.ts';
import { findTestFiles, findTestNeeds, longFiles, tierOf } from './support/test-needs.ts';

const namesOf = (file: string) => findTestNeeds(file).tools.map(({ name }) => name);
const tierOfFile = (file: string) => tierOf(findTestNeeds(file));
const isUnitTest = (needs: ReturnType<typeof findTestNeeds>) => tierOf(needs) === 'test:unit';
const root = resolve(import.meta.dirname, '..');
const guard = resolve(root, 'test/support/unit-guard.ts');

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'quartermaster-needs-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('what a test file needs is found in the modules that it loads', () => {
  assert.deepEqual(namesOf('packages/server/src/kernel/readable-log.test.ts'), []);
  assert.deepEqual(namesOf('test/acceptance/console-story.test.ts'), ['chromium', 'bubblewrap']);
  assert.deepEqual(namesOf('test/acceptance/pgbouncer.test.ts'), ['postgresql', 'pgbouncer', 'bubblewrap']);
  assert.ok(findTestNeeds('test/acceptance/readme-tour.test.ts').startsService);
});

test('at least a hundred test files are unit tests, and every other file needs a program or a long computation', () => {
  const all = findTestFiles('own').map(findTestNeeds);
  assert.ok(all.filter(isUnitTest).length >= 100);
  assert.deepEqual(
    all.filter((needs) => !isUnitTest(needs) && needs.tools.length === 0).map(({ file }) => file),
    longFiles,
  );
});

test('the tier of a file follows from what it needs, and the tier test needs only the programs PostgreSQL and Chromium', () => {
  assert.equal(tierOfFile('packages/server/src/kernel/readable-log.test.ts'), 'test:unit');
  assert.equal(tierOfFile('test/compat/regular-expressions.test.ts'), 'test');
  assert.equal(tierOfFile('test/acceptance/console-story.test.ts'), 'test');
  assert.equal(tierOfFile('test/acceptance/pgbouncer.test.ts'), 'test:system');
  assert.equal(tierOfFile('test/acceptance/packages.test.ts'), 'test:system', 'it installs packages');
  const needed = findTestFiles('own')
    .filter((file) => tierOfFile(file) === 'test')
    .flatMap(namesOf);
  // The service runs plugins and readers of documents in bubblewrap.
  assert.deepEqual([...new Set(needed)].sort(), ['bubblewrap', 'chromium', 'postgresql']);
});

test('each unit test runs in one group, and a file that changes its process is a group of its own', () => {
  const files = findTestFiles('own').map(findTestNeeds).filter(isUnitTest);
  const groups = groupTestFiles(files.map(({ file }) => file));
  assert.deepEqual(groups.flat().sort(), files.map(({ file }) => file).sort());
  assert.ok(groups.length < files.length / 4);
  const changed = 'packages/server/src/adapters/disk/disk-failures.test.ts';
  assert.deepEqual(
    groups.find((group) => group.includes(changed)),
    [changed],
  );
});

test('a test that fails in a group fails the run', (t) => {
  const folder = temporaryFolder(t);
  const paths = ['passes.mjs', 'fails.mjs'].map((name) => {
    writeFileSync(
      join(folder, name),
      `import { test } from 'node:test'; test('${name}', (t) => t.assert.ok(${name === 'passes.mjs'}));`,
    );
    return relative(root, join(folder, name));
  });
  const env = { PATH: process.env.PATH };
  for (const [files, status] of [
    [paths.slice(0, 1), 0],
    [paths, 1],
  ] as const) {
    const run = spawnSync(process.execPath, ['--test', ...writeGroups(folder, [files])], { env, encoding: 'utf8' });
    assert.equal(run.status, status, run.stdout);
    assert.match(run.stdout, new RegExp(`tests ${files.length}\n`));
  }
});

test('a unit test that starts a program of the system or the service fails, even if it catches the error', (t) => {
  const file = join(temporaryFolder(t), 'sample.test.mjs');
  const starts = {
    "spawn('/usr/bin/bwrap', ['--version'])": 1,
    "spawn('sh', ['-c', 'exec /usr/lib/postgresql/15/bin/postgres -D data'])": 1,
    "execFile('chromium', ['--version'])": 1,
    "spawnSync('/usr/bin/bwrap', ['--version'])": 1,
    "execSync('initdb data')": 1,
    "fork('packages/server/src/main.ts')": 1,
    "spawnSync(process.execPath, ['--version'])": 0,
  };
  for (const [start, exitCode] of Object.entries(starts)) {
    writeFileSync(
      file,
      `import { execFile, execSync, fork, spawn, spawnSync } from 'node:child_process';
       import { test } from 'node:test';
       test('sample', () => { try { ${start}; } catch {} });`,
    );
    const env = { PATH: process.env.PATH, NODE_OPTIONS: `--import=${guard}` };
    const { status } = spawnSync(process.execPath, ['--test', file], { env, encoding: 'utf8' });
    assert.equal(status, exitCode, start);
  }
});

test('without root or apt-get nothing is installed, and the output names the command that installs', async (t) => {
  const missing: Tool = { name: 'no-such-package', isInstalled: () => false, marker: /^$/ };
  const path = process.env.PATH;
  t.after(() => {
    process.env.PATH = path;
  });
  process.env.PATH = temporaryFolder(t);
  assert.equal(mayInstall(), false);
  assert.deepEqual(await provideTools([missing]), [missing]);
  assert.equal(installCommand([missing]), 'sudo apt-get install -y --no-install-recommends no-such-package');
  await assert.rejects(requireTools([missing]), {
    message: 'This needs no-such-package. Run: sudo apt-get install -y --no-install-recommends no-such-package',
  });
});
