import assert from 'node:assert/strict';
import { lstat, mkdir, readdir, readFile, readlink, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { strToU8, type Zippable, zipSync } from 'fflate';
import { temporaryFolder } from '../../platform/testing/temporary-folder.ts';
import { openArchive, writeArchive } from './archive.ts';
import { bundleLimits, listFile, writeContents } from './contents.ts';
import { createInstalledBundles } from './installed-bundles.ts';
import { packBundle } from './pack-bundle.ts';
import { newKeyPair, readPrivateKey, sign } from './signatures.ts';

async function createBundle(t: TestContext, files: Record<string, string> = {}): Promise<string> {
  const folder = join(await temporaryFolder(t), 'weather');
  await mkdir(join(folder, 'fixtures'), { recursive: true });
  const all = { 'bundle.yaml': 'id: weather\n', 'get.yaml': 'id: get\n', 'fixtures/a.json': '{}', ...files };
  for (const [path, text] of Object.entries(all)) await writeFile(join(folder, path), text);
  return folder;
}

const about = { bundleId: 'weather', version: '1.0.0' };
const check = async () => {};

async function createKey(t: TestContext) {
  const { privatePem, publicKey } = newKeyPair();
  const keyFile = join(await temporaryFolder(t), 'key.pem');
  await writeFile(keyFile, privatePem);
  return { keyFile, publicKey, privateKey: readPrivateKey(privatePem) };
}

test('the same files give the same archive, whatever their times and order, and the id contains their digest', async (t) => {
  const { keyFile } = await createKey(t);
  const first = await createBundle(t, { 'a.ts': 'export const run = () => 1;\n', '.secret': 'x' });
  const second = await createBundle(t, { 'a.ts': 'export const run = () => 1;\n' });
  await utimes(join(second, 'a.ts'), 1, 1);
  const [one, two] = await Promise.all([first, second].map((folder) => packBundle({ ...about, folder, keyFile })));
  assert.deepEqual(one?.bytes, two?.bytes);
  assert.match(one?.archive.id ?? '', /^weather@1\.0\.0\+sha256\.[0-9a-f]{64}$/);
  assert.equal(one?.fileName, `weather-1.0.0-${one?.archive.digest.slice(0, 12)}.qmb`);
  assert.deepEqual(
    one?.archive.contents.files.map(({ path }) => path),
    ['a.ts', 'bundle.yaml', 'fixtures/a.json', 'get.yaml'],
  );
});

for (const source of [
  "import x from 'left-pad';\nexport const run = () => x;",
  "export const run = async () => import('left-pad');",
  "export { x } from 'left-pad';",
]) {
  test(`a handler that needs a package is not packed: ${source.split('\n', 1)[0]}`, async (t) => {
    const folder = await createBundle(t, { 'a.ts': source });
    await assert.rejects(packBundle({ ...about, folder, keyFile: null }), /imports "left-pad"/);
  });
}

test('types may come from packages, because they are removed; a link is not a file of a bundle', async (t) => {
  const folder = await createBundle(t, { 'a.ts': "import type { Handler } from '@quartermaster/plugin-kit';\n" });
  await packBundle({ ...about, folder, keyFile: null });
  await symlink('/etc/passwd', join(folder, 'passwd'));
  await assert.rejects(packBundle({ ...about, folder, keyFile: null }), /passwd is not a regular file/);
});

/** Builds an archive like an attacker would. */
function forge(entries: Zippable, options: { files?: Record<string, string>; contents?: Buffer } = {}): Buffer {
  const listed = Object.entries(options.files ?? { 'bundle.yaml': 'id: weather\n' });
  const files = listed.map(([path, text]) => listFile(path, Buffer.from(text)));
  const honest = { 'contents.json': options.contents ?? writeContents({ ...about, files }) };
  const held = Object.fromEntries(listed.map(([path, text]) => [`bundle/${path}`, strToU8(text)]));
  return Buffer.from(zipSync({ ...honest, ...held, ...entries } as Zippable));
}

const link = { os: 3, attrs: 0o120777 << 16 } as const;
const hostile: ReadonlyArray<readonly [what: string, bytes: () => Buffer, reason: RegExp]> = [
  ['no zip at all', () => Buffer.from('hello'), /must be a complete ZIP file/],
  ['cut off', () => forge({}).subarray(0, -30), /must be a complete ZIP file/],
  [
    'a file more than is listed',
    () => forge({ 'bundle/b.ts': strToU8('x') }),
    /b\.ts", which contents\.json does not list/,
  ],
  ['a file that is not there', () => forge({}, { contents: contentsOf(['bundle.yaml', 'b.ts']) }), /b\.ts is missing/],
  [
    'another content',
    () => forge({ 'bundle/bundle.yaml': strToU8('id: weathes\n') }),
    /bundle\.yaml does not match its size/,
  ],
  ['a path upwards', () => forge({ 'bundle/../../x': strToU8('x') }), /not a plain relative path/],
  ['a path from the root', () => forge({ '/etc/x': strToU8('x') }), /not a plain relative path/],
  ['a path of Windows', () => forge({ 'bundle\\..\\x': strToU8('x') }), /not a plain relative path/],
  ['a hidden name', () => forge({ 'bundle/.bashrc': strToU8('x') }), /not a plain relative path/],
  ['a folder as an entry', () => forge({ 'bundle/x/': new Uint8Array() }), /not a plain relative path/],
  ['two names for one file', () => forge({ 'bundle/BUNDLE.yaml': strToU8('x') }), /occurs twice/],
  ['a symbolic link', () => forge({ 'bundle/l': [strToU8('/etc/passwd'), link] }), /is a symbolic link/],
  ['too deep', () => forge({ [`bundle/${'a/'.repeat(9)}x`]: strToU8('x') }), /deeper than/],
  ['too many entries', () => forge(manyEntries()), /with at most 2002 entries/],
  ['a bomb', () => bomb(), /unpacked files must have at most/],
  [
    'other JSON of the same meaning',
    () => forge({}, { contents: Buffer.from(` ${String(contentsOf(['bundle.yaml']))}`) }),
    /not in the form that "npm run quartermaster -- bundle pack" writes/,
  ],
  [
    'a wrong format',
    () => forge({}, { contents: Buffer.from('{"format":"x"}\n') }),
    /the format in contents\.json must be/,
  ],
];

function contentsOf(paths: readonly string[]): Buffer {
  return writeContents({ ...about, files: paths.map((path) => listFile(path, Buffer.from('id: weather\n'))) });
}

function manyEntries(): Zippable {
  return Object.fromEntries(Array.from({ length: bundleLimits.files + 3 }, (_, i) => [`f${i}`, new Uint8Array()]));
}

function bomb(): Buffer {
  const zeros = Buffer.alloc(bundleLimits.fileBytes + 1);
  const contents = writeContents({ ...about, files: [listFile('zeros', zeros)] });
  return Buffer.from(zipSync({ 'contents.json': contents, 'bundle/zeros': zeros }));
}

for (const [what, bytes, reason] of hostile) {
  test(`an archive with ${what} is refused`, async () => {
    await assert.rejects(openArchive(bytes()), reason);
  });
}

test('a signature of other contents or by another key is refused, whatever options are set', async (t) => {
  const { privateKey } = await createKey(t);
  const other = await createKey(t);
  assert.ok(privateKey && other.privateKey);
  const files = new Map([['bundle.yaml', Buffer.from('id: weather\n')]]);
  const contentsBytes = contentsOf(['bundle.yaml']);
  const right = sign(contentsBytes, privateKey);
  assert.equal(
    (await openArchive(writeArchive({ contentsBytes, files, signature: right }))).signature?.public_key,
    right.public_key,
  );
  for (const signature of [
    sign(Buffer.from('other'), privateKey),
    { ...right, public_key: other.publicKey },
    { ...right, signature: '' },
  ]) {
    await assert.rejects(
      openArchive(writeArchive({ contentsBytes, files, signature })),
      /its signature does not match its content/,
    );
  }
});

test('a version that the service would refuse changes nothing and leaves no file', async (t) => {
  const folder = await createBundle(t);
  const place = await temporaryFolder(t);
  const installed = createInstalledBundles(place);
  const first = await packBundle({ ...about, folder, keyFile: null });
  await installed.put(first.archive, check);
  await writeFile(join(folder, 'get.yaml'), 'id: got\n');
  const second = await packBundle({ ...about, version: '2.0.0', folder, keyFile: null });
  const refuse = async (path: string) => {
    assert.equal(await readFile(join(path, 'get.yaml'), 'utf8'), 'id: got\n');
    throw new Error('it does not load');
  };
  await assert.rejects(installed.put(second.archive, refuse), /it does not load/);
  assert.equal((await installed.find('weather'))?.id, first.archive.id);
  assert.deepEqual(await readdir(join(place, '.versions')), [first.archive.digest]);
});

test('an installation adds a version beside the others, replaces the link and removes old versions', async (t) => {
  const folder = await createBundle(t);
  const place = await temporaryFolder(t);
  let now = Date.now();
  const installed = createInstalledBundles(place, { now: () => now });
  const versions = [];
  for (const version of ['1.0.0', '2.0.0', '3.0.0']) {
    await writeFile(join(folder, 'get.yaml'), `id: get # ${version}\n`);
    versions.push(await packBundle({ ...about, version, folder, keyFile: null }));
  }
  const [one, two, three] = versions;
  assert.ok(one && two && three);
  for (const { archive } of [one, one, two]) await installed.put(archive, check);
  assert.equal(await readlink(join(place, 'weather')), join('.versions', two.archive.digest, 'weather'));
  assert.equal(await readFile(join(place, 'weather', 'get.yaml'), 'utf8'), 'id: get # 2.0.0\n');
  assert.equal((await readdir(join(place, '.versions'))).length, 2, 'runs under way keep their files');
  now += 2 * 3_600_000;
  await installed.put(three.archive, check);
  const remaining = await readdir(join(place, '.versions'));
  assert.ok(!remaining.includes(one.archive.digest) && remaining.includes(three.archive.digest));
  await installed.remove('weather');
  assert.deepEqual(await installed.list(), []);
  await assert.rejects(lstat(join(place, 'weather')), /ENOENT/);
  await assert.rejects(installed.remove('weather'), /The bundle "weather" is not installed/);
});

test('a folder that was created by hand is not replaced', async (t) => {
  const place = await temporaryFolder(t);
  await mkdir(join(place, 'weather'));
  const { archive } = await packBundle({ ...about, folder: await createBundle(t), keyFile: null });
  await assert.rejects(createInstalledBundles(place).put(archive, check), /already uses the id/);
  await assert.rejects(createInstalledBundles(place).remove('weather'), /The bundle "weather" is not installed/);
});
