import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from './support/service.ts';
import { installCommand, missingToolsIn, requireTools } from './support/system-tools.ts';

/** Runs a test file with these tests as `npm test` does. */
function runTests(folder: string, tests: string, ...options: string[]) {
  const file = join(folder, 'sample.test.ts');
  writeFileSync(file, `import { before, describe, test } from 'node:test';\n${tests}`);
  const env = { PATH: process.env.PATH };
  const { status, stdout } = spawnSync(process.execPath, ['scripts/test.mjs', file, ...options], {
    env,
    encoding: 'utf8',
  });
  return {
    status,
    last: stdout
      .trimEnd()
      .split('\n')
      .at(-1)
      ?.replace(/ \(\d+ s\)$/, ''),
  };
}

const needs = (name: string) => `throw new Error('This needs ${name}. Run: sudo apt-get install ${name}');`;
const passes = "test('one', () => {});";

test('a test that needs a missing program is skipped, and the last line names the program', async (t) => {
  const folder = await temporaryFolder(t);
  const tests = `${passes}
    test('two', () => { ${needs('chromium')} });
    test('three', async (t) => {
      await t.test('four', () => { ${needs('postgresql')} });
      await t.test('five', () => {});
    });`;
  assert.deepEqual(runTests(folder, tests), { status: 0, last: 'npm test: 2 passed, 2 need chromium, postgresql' });
  assert.equal(runTests(folder, tests, '--complete').status, 1);
});

test('a test that fails for another reason fails the run, also beside one that needs a program', async (t) => {
  const folder = await temporaryFolder(t);
  const fails = "test('six', () => { throw new Error('wrong'); });";
  assert.deepEqual(runTests(folder, `${passes} ${fails}`), { status: 1, last: 'npm test: 1 passed, 1 FAILED' });
  const nested = `test('seven', async (t) => {
    await t.test('eight', () => { ${needs('chromium')} });
    await t.test('nine', () => { throw new Error('wrong'); });
  });`;
  assert.deepEqual(runTests(folder, nested), { status: 1, last: 'npm test: 0 passed, 1 FAILED, 1 need chromium' });
  const thrown = runTests(folder, `${passes} throw new Error('while loading');`);
  assert.deepEqual([thrown.status, /FAILED/.test(thrown.last ?? '')], [1, true]);
});

test('the error of a missing program names the command that installs it', () => {
  const missing = { name: 'chromium', file: '/no/such/file' };
  const message = `This needs chromium. Run: ${installCommand([missing])}`;
  assert.equal(installCommand([missing]), 'sudo apt-get install -y --no-install-recommends chromium');
  assert.throws(() => requireTools([missing]), { message });
  assert.deepEqual(missingToolsIn(message), ['chromium']);
  assert.deepEqual(missingToolsIn('spawn /usr/bin/no-such-program ENOENT'), []);
});
