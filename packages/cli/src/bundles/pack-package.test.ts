import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';

const main = resolve(import.meta.dirname, '../main.ts');

/** A program in the place of npm. It needs no network: the bundler that it installs writes one line. */
const npm = `#!${process.execPath}
const { mkdirSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const [command, ...words] = process.argv.slice(2);
if (command === 'install') {
  mkdirSync('node_modules/@mine/tea', { recursive: true });
  mkdirSync('node_modules/esbuild/bin', { recursive: true });
  writeFileSync('node_modules/@mine/tea/package.json', '{ "license": "MIT" }');
  writeFileSync('node_modules/esbuild/bin/esbuild', "require('node:fs').writeFileSync('packed/index.js', '1;')");
  writeFileSync('package-lock.json', '{ "packages": { "node_modules/@mine/tea": { "version": "1.0.0", "integrity": "sha512-x" } } }');
} else {
  const filename = 'mine-tea-1.0.0.tgz';
  writeFileSync(join(words[words.indexOf('--pack-destination') + 1], filename), 'bundled');
  console.log(JSON.stringify([{ filename }]));
}
`;

/** Runs the command with {@link npm}. */
async function openPack(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-pack-package-'));
  t.after(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'npm'), npm);
  await chmod(join(folder, 'npm'), 0o755);
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` };
  const pack = (out: string) => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [main, 'bundle', 'pack', '@mine/tea', '--out', out],
      {
        ...{ encoding: 'utf8', env },
      },
    );
    return { status, stdout, stderr };
  };
  return { folder, pack };
}

test('a package is packed into a folder that does not exist yet, which is created', async (t) => {
  const { folder, pack } = await openPack(t);
  const out = join(folder, 'new', 'packages');
  const file = join(out, 'mine-tea-1.0.0-packed.tgz');
  assert.deepEqual(pack(out), { status: 0, stdout: `${file}\n`, stderr: '' });
  assert.equal(await readFile(file, 'utf8'), 'bundled');
});

test('a packed package has another name than the file that npm pack has downloaded, and replaces an earlier one', async (t) => {
  const { folder, pack } = await openPack(t);
  await writeFile(join(folder, 'mine-tea-1.0.0.tgz'), 'unmodified');
  assert.deepEqual([pack(folder).status, pack(folder).status], [0, 0]);
  assert.deepEqual((await readdir(folder)).sort(), ['mine-tea-1.0.0-packed.tgz', 'mine-tea-1.0.0.tgz', 'npm']);
  assert.equal(await readFile(join(folder, 'mine-tea-1.0.0.tgz'), 'utf8'), 'unmodified');
});

test('a folder for the package that is a file is refused with its path', async (t) => {
  const { folder, pack } = await openPack(t);
  const { status, stderr } = pack(join(folder, 'npm'));
  assert.deepEqual([status, stderr.includes(`${join(folder, 'npm')} exists already.`)], [73, true], stderr);
});
