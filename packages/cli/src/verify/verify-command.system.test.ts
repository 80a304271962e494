import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import { builtFolders, installedList, releaseList } from './shipped-files.ts';

const root = resolve(import.meta.dirname, '../../../..');
const [builtConsole, builtService] = builtFolders;

/** Creates a clone of this repository with two production packages and a console. */
function createInstallation(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'quartermaster-verify-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const clone = join(folder, 'clone');
  execFileSync('git', ['clone', '-q', '--shared', root, clone]);
  for (const path of ['node_modules/fastify', 'node_modules/marked']) {
    cpSync(join(root, path), join(clone, path), { recursive: true });
  }
  cpSync(join(root, builtConsole), join(clone, builtConsole), { recursive: true });
  mkdirSync(join(clone, builtService));
  writeFileSync(join(clone, builtService, 'main.mjs'), '');
  execFileSync(process.execPath, ['scripts/hash-list.ts', '--installed', clone], { cwd: root });
  return clone;
}

function verify(folder: string) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['packages/cli/src/main.ts', 'verify', folder], {
    cwd: root,
    encoding: 'utf8',
  });
  return { status, lines: stdout.trim().split('\n').filter(Boolean), stderr };
}

test('verify names a changed handler, console file and package, and what was added or removed', (t) => {
  const clone = createInstallation(t);
  const clean = verify(clone);
  assert.deepEqual([clean.status, clean.lines], [0, []], clean.stderr);
  assert.match(clean.stderr, /Compared \d{3,} files with commit [0-9a-f]{40}/);

  appendFileSync(join(clone, 'bundles/calculator/evaluate.ts'), ' ');
  appendFileSync(join(clone, builtConsole, 'index.html'), ' ');
  appendFileSync(join(clone, builtService, 'main.mjs'), ' ');
  appendFileSync(join(clone, 'node_modules/fastify/fastify.js'), ' ');
  writeFileSync(join(clone, 'bundles/calculator/added.ts'), '');
  rmSync(join(clone, 'node_modules/marked/package.json'));
  const changed = verify(clone);
  assert.equal(changed.status, 1);
  assert.deepEqual(changed.lines, [
    'added bundles/calculator/added.ts',
    'changed bundles/calculator/evaluate.ts',
    'changed node_modules/fastify/fastify.js',
    'missing node_modules/marked/package.json',
    `changed ${builtConsole}/index.html`,
    `changed ${builtService}/main.mjs`,
  ]);
});

test('verify compares a product without a repository with the list of its release', (t) => {
  const clone = createInstallation(t);
  execFileSync(process.execPath, ['scripts/hash-list.ts', clone], { cwd: root });
  rmSync(join(clone, '.git'), { recursive: true });
  const clean = verify(clone);
  assert.deepEqual([clean.status, clean.lines], [0, []], clean.stderr);
  assert.match(clean.stderr, new RegExp(`files with ${releaseList}`));
  copyFileSync(join(clone, 'package.json'), join(clone, 'packages/server/package.json'));
  assert.deepEqual(verify(clone).lines, ['changed packages/server/package.json']);
  rmSync(join(clone, releaseList));
  assert.match(verify(clone).stderr, /has neither hashes\.json nor a git repository/);
});

test('verify does not accept an installation without a list of hashes', (t) => {
  const clone = createInstallation(t);
  rmSync(join(clone, installedList));
  const { status, stderr } = verify(clone);
  assert.equal(status, 1);
  assert.match(stderr, /\.hashes\.json is missing/);
});
