import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, globSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { cacheModule, createClone, createInstallation, setUpScript as script } from './support/installation.ts';
import { temporaryFolder } from './support/service.ts';

function bundleService(root: string) {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/bundle-service.ts'], {
    cwd: root,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  return stderr;
}

test('the service is bundled again when a source changes, and its modules find their files', async (t) => {
  const folder = await temporaryFolder(t);
  for (const path of [
    'scripts',
    'packages/server',
    'packages/contract',
    'packages/importers',
    'packages/plugin-kit',
    'package.json',
    'package-lock.json',
  ]) {
    cpSync(path, join(folder, path), { recursive: true, filter: (name) => !/\/(?:node_modules|dist)$/.test(name) });
  }
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  const source = join(folder, 'packages/server/src/main.ts');
  writeFileSync(source, "import { version } from './platform/version.ts';\nconsole.log(version, 'one');\n");
  const start = () =>
    spawnSync(process.execPath, ['packages/server/dist/main.mjs'], { cwd: folder, encoding: 'utf8' }).stdout;
  assert.match(bundleService(folder), /bundling the service/);
  assert.equal(start(), '0.1.0 one\n');
  assert.equal(bundleService(folder), '');
  writeFileSync(source, readFileSync(source, 'utf8').replace('one', 'two'));
  assert.match(bundleService(folder), /bundling the service/);
  assert.equal(start(), '0.1.0 two\n');
});

test('the set-up writes the start-up caches once, and again after a change of a bundle or of the version', async (t) => {
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

test('the set-up of a copied installation writes its caches again, because they hold paths', async (t) => {
  const [folder, copy] = [await temporaryFolder(t), await temporaryFolder(t)];
  const { setUp } = await createInstallation(folder);
  assert.deepEqual([setUp(), setUp()], [1, 1]);
  cpSync(join(folder, 'node_modules'), join(copy, 'node_modules'), { recursive: true });
  const copied = await createInstallation(copy);
  assert.deepEqual([copied.setUp(), copied.setUp()], [1, 1]);
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

test('the set-up uses the Node.js of the host on request, refuses an old one, and switches back', async (t) => {
  const folder = await temporaryFolder(t);
  const { write } = await createInstallation(folder);
  const platform = `${process.platform}-${process.arch}`;
  const pinned = 'the pinned one';
  write('scripts/warm-up.ts', '');
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

test('the set-up installs the packages again when one is missing or incomplete', async (t) => {
  const { write, setUp } = await createClone(await temporaryFolder(t));
  const lock = { packages: { '': {}, 'node_modules/one': { version: '1.0.0' } } };
  write('package-lock.json', JSON.stringify(lock));
  write('one.json', '{"version":"1.0.0"}');
  write('on-install', 'mkdir -p node_modules/one && cp one.json node_modules/one/package.json');
  assert.deepEqual(setUp('run').calls.slice(0, 1), ['ci --omit=dev']);
  write('scripts/build-console.mjs', '');
  assert.deepEqual(setUp('run').calls, []);
  write('node_modules/one/package.json', '');
  const repaired = setUp('run');
  assert.deepEqual([repaired.status, repaired.calls], [0, ['ci --omit=dev']], repaired.stderr);
  assert.match(repaired.stderr, /^quartermaster: node_modules\/one is missing or incomplete$/m);
  assert.deepEqual(setUp('run').calls, []);
});

test('on an old Node.js of the host, the set-up prints one sentence that names the remedy', async (t) => {
  const folder = await temporaryFolder(t);
  const { write } = await createInstallation(folder);
  write('old.mjs', "Object.defineProperty(process.versions, 'node', { value: '12.22.12' });");
  const { status, stderr } = spawnSync(process.execPath, ['--import', join(folder, 'old.mjs'), script, 'run'], {
    cwd: folder,
    encoding: 'utf8',
  });
  assert.equal(
    stderr,
    'quartermaster: npm needs Node.js 20 or later to install Quartermaster; this is 12.22.12. Install a newer Node.js (https://nodejs.org), then run the same command again.\n',
  );
  assert.equal(status, 1);
  assert.match(readFileSync('README.md', 'utf8'), /npm with Node\.js 20 or later/);
});

test('the modules that check the Node.js of the host have no syntax that Node.js 12 cannot read', () => {
  const files = ['scripts/set-up.mjs', 'scripts/set-up/check-node.mjs'];
  for (const file of files) {
    const text = readFileSync(file, 'utf8').replaceAll(/^\s*\/\/.*$/gm, '');
    assert.doesNotMatch(text, /\?\?|\?\.|\|\|=|&&=|\bawait\b|\d_\d|#\w|\bstatic\b/, file);
    for (const [, imported = ''] of text.matchAll(/^import .* from '(\..+)';$/gm)) {
      const path = join(dirname(file), imported);
      if (!files.includes(path)) files.push(path);
    }
  }
  assert.deepEqual(files.slice(2), ['scripts/set-up/check-host.mjs', 'scripts/set-up/refuse.mjs']);
});

test('the tests of a fresh clone build the console and remove its packages before they install their own', async (t) => {
  const { setUp, exists } = await createClone(await temporaryFolder(t));
  assert.deepEqual(setUp('test').calls, ['ci --omit=dev', 'ci --prefix=packages/console', 'install --no-save']);
  assert.ok(!exists('packages/console/node_modules'));
});

test('the set-up installs what the service needs, and later adds what development and tests need', async (t) => {
  const { write, setUp, exists, headers } = await createClone(await temporaryFolder(t));
  assert.deepEqual(setUp('run').calls, ['ci --omit=dev', 'ci --prefix=packages/console']);
  assert.ok(!exists('packages/console/node_modules'), 'the packages that build the console are removed');
  assert.ok(!exists(headers), 'the headers of Node.js are removed');
  write('scripts/build-console.mjs', '');
  assert.deepEqual(setUp('run').calls, []);
  assert.deepEqual(setUp('dev').calls, ['ci --prefix=packages/console']);
  assert.deepEqual(setUp('test').calls, ['install --no-save']);
  assert.deepEqual(setUp('all').calls, ['ci --prefix=scripts/biome']);
  assert.deepEqual([...setUp('all').calls, ...setUp('run').calls], []);
  assert.ok(exists('packages/console/node_modules'), 'a start keeps what development needs');
  write('package-lock.json', '{ }');
  assert.deepEqual(setUp('run').calls, ['ci'], 'another lockfile: the packages of the tests stay');
});

test('an interrupted installation ends with one sentence, and the next one starts again', async (t) => {
  const { write, setUp } = await createClone(await temporaryFolder(t));
  write('npm-exit', '7');
  const interrupted = setUp('run');
  assert.equal(interrupted.status, 1);
  assert.match(
    interrupted.stderr,
    /\nquartermaster: The packages are not installed: npm ended with 7\. Check [^\n]+, then run the same command again\.\n$/,
  );
  assert.doesNotMatch(interrupted.stderr, /\n +at /);
  write('npm-exit', '0');
  assert.equal(setUp('run').calls[0], 'ci --omit=dev');
  write('scripts/build-console.mjs', '');
  write('npm-exit', '7');
  assert.deepEqual([setUp('test').status, setUp('test').calls[0]], [1, 'ci --omit=dev'], 'half a group: all again');
});

test('without a Node.js of its platform, the set-up refuses an old one of the host', async (t) => {
  const folder = await temporaryFolder(t);
  const { write } = await createInstallation(folder);
  write('old-node', '#!/bin/sh\necho v20.20.2\n');
  chmodSync(join(folder, 'old-node'), 0o755);
  const env = { PATH: process.env.PATH, npm_node_execpath: join(folder, 'old-node') };
  const { status, stderr } = spawnSync(process.execPath, [script], { cwd: folder, env, encoding: 'utf8' });
  assert.equal(status, 1);
  assert.match(
    stderr,
    /^quartermaster: No Node\.js is included for [^\n]+old-node is v20\.20\.2; 24 or later is required\. Install a newer Node\.js, [^\n]+\n$/,
  );
});

test('every supported platform has its Node.js in the lockfile, with a recorded SHA-256', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, { version: string; integrity?: string; os?: string; cpu?: string; optional?: boolean }>;
  };
  const { version, sha256 } = JSON.parse(readFileSync('scripts/node-checksums.json', 'utf8')) as {
    version: string;
    sha256: Record<string, string>;
  };
  const readme = readFileSync('README.md', 'utf8');
  const row = { linux: /^\| Linux on (.+?) \|/gm, darwin: /^\| macOS on (.+?) \|/gm };
  const supported = Object.entries(row).flatMap(([system, lines]) =>
    [...readme.matchAll(lines)].flatMap(([, cell = '']) =>
      (cell.match(/\b(x64|arm64)\b/g) ?? []).map((cpu) => `${system}-${cpu}`),
    ),
  );
  assert.deepEqual(supported.sort(), ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64']);
  assert.deepEqual(Object.keys(sha256).sort(), supported);
  for (const platform of supported) {
    const locked = packages[`node_modules/node-${platform}`];
    assert.equal(`${locked?.os}-${locked?.cpu}`, platform);
    assert.equal(locked?.version, version, platform);
    assert.match(locked?.integrity ?? '', /^sha512-/, platform);
    assert.equal(locked?.optional, true, platform);
  }
});

test('the command line says what to do under an old Node.js, and in a clone without packages', async (t) => {
  const folder = await temporaryFolder(t);
  const { write } = await createInstallation(folder);
  const script = resolve('scripts/set-up/check-node.mjs');
  const check = () => spawnSync(process.execPath, [script], { cwd: folder, encoding: 'utf8' });
  const without = check();
  assert.equal(without.status, 1);
  assert.match(without.stderr, /^quartermaster: The packages are not installed\. Run "npm start" once: [^\n]+\n$/);
  write('node_modules/.package-lock.json', '{}');
  assert.deepEqual([check().status, check().stderr], [0, '']);
  write('package.json', JSON.stringify({ engines: { node: '>=99' } }));
  const old = check();
  assert.equal(old.status, 1);
  assert.match(
    old.stderr,
    /^quartermaster: Node\.js 99 or later is required; this is [\d.]+\. Run "npm start" once: it installs one\. [^\n]+\n$/,
  );
  assert.match(readScripts().quartermaster ?? '', /^node scripts\/set-up\/check-node\.mjs && exec node /);
});

test('every npm script installs what it needs, or needs only npm', () => {
  const scripts = Object.entries(readScripts());
  assert.ok(scripts.length <= 15, `${scripts.length} scripts`);
  const without = scripts.filter(([, command]) => !/^node scripts\/set-up\.mjs (?:run|dev|test|all) && /.test(command));
  assert.deepEqual(
    without.map(([name]) => name),
    ['quartermaster', 'add-onnx'],
    'the first says what to do without packages',
  );
  // The shell remembers where it found `node` before the set-up linked another one.
  const remembered = scripts.filter(([, command]) => / && (?:exec )?node scripts\/(?!set-up)/.test(command));
  assert.deepEqual(remembered, []);
});

function readScripts(): Readonly<Record<string, string>> {
  return (JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }).scripts;
}

test('the documents start TypeScript through npm scripts that exist, because the Node.js of a machine may be too old', () => {
  const documents = ['README.md', 'CONTRIBUTING.md', 'RELEASING.md', ...globSync('docs/guides/*.md')];
  const texts = documents.map((path) => readFileSync(path, 'utf8'));
  assert.deepEqual(
    texts.flatMap((text) => [...text.matchAll(/\bnode [\w./-]+\.ts\b/g)].map(String)),
    [],
  );
  const scripts = readScripts();
  const named = new Set(
    texts.flatMap((text) => [...text.matchAll(/\bnpm run (?:-s )?([\w:-]+)/g)].map(([, name = '']) => name)),
  );
  assert.ok(named.size > 5, `only ${named.size} scripts`);
  assert.deepEqual(
    [...named].filter((name) => scripts[name] === undefined),
    [],
  );
});

test('a package that npm leaves incomplete ends the set-up with one sentence, and the next one installs again', async (t) => {
  const folder = await temporaryFolder(t);
  const { write, setUp, exists } = await createClone(folder);
  const locked = { version: '2.0.0', bin: { tool: 'bin/tool' } };
  const packages = { 'node_modules/tool': locked, 'node_modules/of-tests': { version: '1.0.0', dev: true } };
  write('package-lock.json', JSON.stringify({ packages }));
  const refused = () => {
    const { status, stderr, calls } = setUp('run');
    assert.equal(status, 1, stderr);
    assert.equal(calls[0], 'ci --omit=dev');
    assert.match(
      stderr,
      /\nquartermaster: npm has left packages incomplete [^\n]+: node_modules\/tool\. Run [^\n]+\n$/,
    );
    assert.ok(!exists('node_modules/.installed-from'));
  };
  refused();
  write('node_modules/tool/package.json', '{"version":"2.0.0"}');
  refused();
  write('node_modules/tool/package.json', '{"version":"1.0.0"}');
  write('node_modules/tool/bin/tool', '');
  refused();
  write('node_modules/tool/package.json', '{"version":"2.0.0"}');
  assert.equal(setUp('run').status, 0);
  assert.ok(exists('node_modules/.installed-from'));
});
