import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from './support/service.ts';

const script = resolve('scripts/set-up.mjs');
const cacheModule = 'packages/server/src/catalogue/manifest-cache.ts';

/** An installation whose dependencies are installed and whose `warm-up` writes a line to `starts`. */
async function createInstallation(folder: string, warmUp = "require('node:fs').appendFileSync('starts', '.')") {
  const write = (path: string, content: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  };
  write('package-lock.json', '{}');
  write('node_modules/.installed-from', createHash('sha256').update('{}').digest('hex'));
  write('package.json', JSON.stringify({ scripts: { 'warm-up': `node -e "${warmUp}"` } }));
  write('packages/server/package.json', '{"version":"1.0.0"}');
  write(cacheModule, 'const cacheVersion = 1;');
  write('bundles/sums/bundle.yaml', 'id: sums');
  write('scripts/build-console.mjs', '');
  write('starts', '');
  /** @returns how many times the caches were written until now */
  const setUp = () => {
    execFileSync(process.execPath, [script], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
    return readFileSync(join(folder, 'starts')).length;
  };
  return { write, setUp };
}

test('the set-up writes the caches of a start once, and again after a change of a bundle or of the version', async (t) => {
  const { write, setUp } = await createInstallation(await temporaryFolder(t));
  assert.deepEqual([setUp(), setUp()], [1, 1], 'an update of the code may leave the lockfile as it is');
  write('bundles/sums/bundle.yaml', 'id: sun5');
  assert.deepEqual([setUp(), setUp()], [2, 2], 'another content of the same size');
  write('bundles/sums/add.yaml', 'id: add');
  assert.deepEqual([setUp(), setUp()], [3, 3], 'another file');
  write(cacheModule, 'const cacheVersion = 2;');
  assert.deepEqual([setUp(), setUp()], [4, 4], 'another version of the cache');
  write('packages/server/package.json', '{"version":"1.0.1"}');
  assert.deepEqual([setUp(), setUp()], [5, 5], 'another version of the product');
});

test('an installation whose caches cannot be written starts without them', async (t) => {
  const { setUp } = await createInstallation(await temporaryFolder(t), 'process.exit(1)');
  assert.equal(setUp(), 0);
});
