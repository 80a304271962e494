import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
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
  write('scripts/hash-list.ts', '');
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

test('the set-up refuses a pinned Node whose SHA-256 is not the recorded one', async (t) => {
  const folder = await temporaryFolder(t);
  const { write, setUp } = await createInstallation(folder);
  const platform = `${process.platform}-${process.arch}`;
  const sha256 = createHash('sha256').update('the pinned one').digest('hex');
  write('scripts/node-checksums.json', JSON.stringify({ sha256: { [platform]: sha256 } }));
  write(`node_modules/node-${platform}/bin/node`, 'the pinned one');
  assert.equal(setUp(), 1);
  write(`node_modules/node-${platform}/bin/node`, 'the pinned 0ne');
  assert.throws(setUp, new RegExp(`has the SHA-256 [0-9a-f]{64}; scripts/node-checksums.json records ${sha256}`));
});

test('the set-up uses the Node of the host when asked, refuses an old one, and goes back', async (t) => {
  const folder = await temporaryFolder(t);
  const { write } = await createInstallation(folder);
  const platform = `${process.platform}-${process.arch}`;
  const pinned = 'the pinned one';
  write('package.json', JSON.stringify({ engines: { node: '>=24' }, scripts: { 'warm-up': 'true' } }));
  const sha256 = { [platform]: createHash('sha256').update(pinned).digest('hex') };
  write('scripts/node-checksums.json', JSON.stringify({ sha256 }));
  write(`node_modules/node-${platform}/bin/node`, pinned);
  const setUp = (choice: string, host: string) => {
    const env = { PATH: process.env.PATH, QUARTERMASTER_NODE: choice, npm_node_execpath: host };
    return spawnSync(process.execPath, [script], { cwd: folder, env, encoding: 'utf8' });
  };
  const node = () => readlinkSync(join(folder, 'node_modules/.bin/node'));
  assert.equal(setUp('', process.execPath).status, 0);
  assert.equal(node(), `../node-${platform}/bin/node`);
  assert.equal(setUp('host', process.execPath).status, 0);
  assert.equal(node(), process.execPath);
  write('old-node', '#!/bin/sh\necho v22.1.0\n');
  chmodSync(join(folder, 'old-node'), 0o755);
  const old = setUp('host', join(folder, 'old-node'));
  assert.equal(old.status, 1);
  assert.match(old.stderr, /old-node is v22\.1\.0; 24 or later is required/);
  assert.match(setUp('mine', process.execPath).stderr, /QUARTERMASTER_NODE is "mine"; use "pinned" or "host"/);
  assert.equal(setUp('pinned', process.execPath).status, 0);
  assert.equal(node(), `../node-${platform}/bin/node`);
});
