import assert from 'node:assert/strict';
import { lstat, mkdir, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../platform/testing/temporary-folder.ts';
import { openArchive, writeArchive } from './archive.ts';
import { describeChange, findChangedFiles } from './changed-files.ts';
import { listFile, writeContents } from './contents.ts';
import { createInstalledBundles } from './installed-bundles.ts';
import { packBundle } from './pack-bundle.ts';
import { newKeyPair } from './signatures.ts';

const check = async () => {};

function archiveOf(bundleId: string, version = '1.0.0') {
  const files = new Map([
    ['bundle.yaml', Buffer.from(`id: ${bundleId}\nversion: ${version}\n`)],
    ['lib/get.ts', Buffer.from('export const run = () => 1;\n')],
  ]);
  const listed = [...files].map(([path, content]) => listFile(path, content));
  const contentsBytes = writeContents({ bundleId, version, files: listed });
  return openArchive(writeArchive({ contentsBytes, signature: null, files }));
}

for (const [what, damage] of [
  ['changed', (root: string) => writeFile(join(root, 'bundle.yaml'), 'id: other\n')],
  ['gone', (root: string) => rm(join(root, 'lib/get.ts'))],
  ['more than there were', (root: string) => writeFile(join(root, 'more.yaml'), 'id: more\n')],
] as const) {
  test(`a version whose files are ${what} is not activated again, but its archive is`, async (t) => {
    const place = await temporaryFolder(t);
    const installed = createInstalledBundles(place);
    const archive = await archiveOf('weather');
    await installed.put(archive, check);
    await installed.put(await archiveOf('weather', '2.0.0'), check);
    await damage(join(place, '.versions', archive.digest, 'weather'));
    for (let times = 0; times < 2; times += 1) {
      await installed.put(archive, check);
      assert.deepEqual(await readdir(join(place, 'weather')), ['bundle.yaml', 'lib']);
      for (const [path, content] of archive.files) {
        assert.deepEqual(await readFile(join(place, 'weather', path)), content);
      }
      assert.equal((await installed.find('weather'))?.id, archive.id);
    }
  });
}

for (const [what, damage] of [
  ['empty', (path: string) => writeFile(path, '')],
  ['without a publisher', (path: string) => writeFile(path, '{"contents":"","signature":{}}')],
  ['gone', (path: string) => rm(path)],
] as const) {
  test(`an installed bundle whose signature file is ${what} affects no other bundle, and no other bundle replaces it`, async (t) => {
    const place = await temporaryFolder(t);
    let now = Date.now();
    const installed = createInstalledBundles(place, { now: () => now });
    const archive = await archiveOf('weather');
    await installed.put(archive, check);
    await damage(join(place, '.versions', archive.digest, 'seal.json'));
    now += 2 * 3_600_000;
    await installed.put(await archiveOf('news'), check);
    assert.equal((await readdir(join(place, 'weather'))).length, 2, 'what is in force stays');
    await assert.rejects(
      installed.find('weather'),
      /bundle weather is damaged.*quartermaster -- bundle remove weather"/,
    );
    await assert.rejects(installed.list(), /bundle weather is damaged/);
    await installed.remove('weather');
    await installed.put(await archiveOf('weather', '2.0.0'), check);
    assert.deepEqual(
      (await installed.list()).map(({ bundleId, contents }) => `${bundleId} ${contents.version}`),
      ['news 1.0.0', 'weather 2.0.0'],
    );
  });
}

test('bundles can be installed concurrently', async (t) => {
  const place = await temporaryFolder(t);
  const archives = await Promise.all(
    Array.from({ length: 8 }, (_, at) => [archiveOf(`b${at}`), archiveOf('same', `1.0.${at}`)]).flat(),
  );
  await Promise.all(archives.map((archive) => createInstalledBundles(place).put(archive, check)));
  const listed = await createInstalledBundles(place).list();
  assert.deepEqual(
    listed.map(({ bundleId }) => bundleId),
    [...Array.from({ length: 8 }, (_, at) => `b${at}`), 'same'],
  );
  assert.deepEqual(
    (await readdir(place)).filter((name) => name.startsWith('.')),
    ['.versions'],
  );
});

test('the files of a killed installation are removed after an hour; those that an operator hides are not', async (t) => {
  const place = await temporaryFolder(t);
  const leftovers = ['.11111111-2222-3333-4444-555555555555', '.versions/.11111111-2222-3333-4444-555555555555'];
  await mkdir(join(place, leftovers[1] ?? ''), { recursive: true });
  await symlink('.versions/x/weather', join(place, leftovers[0] ?? ''));
  await mkdir(join(place, '.mine'));
  const later = { now: () => Date.now() + 2 * 3_600_000 };
  await createInstalledBundles(place).put(await archiveOf('weather'), check);
  for (const path of leftovers) await lstat(join(place, path));
  await createInstalledBundles(place, later).put(await archiveOf('weather'), check);
  for (const path of leftovers) await assert.rejects(lstat(join(place, path)), /ENOENT/);
  await utimes(join(place, '.mine'), 1, 1);
  await createInstalledBundles(place, later).put(await archiveOf('weather'), check);
  await lstat(join(place, '.mine'));
});

test('handlers can read a bundle that was installed by a user with a restrictive umask', async (t) => {
  const place = await temporaryFolder(t);
  const before = process.umask(0o077);
  t.after(() => process.umask(before));
  await createInstalledBundles(join(place, 'bundles')).put(await archiveOf('weather'), check);
  for (const path of ['', '.versions', 'weather', 'weather/lib', 'weather/lib/get.ts']) {
    const { mode } = await stat(join(place, 'bundles', path));
    assert.equal(mode & 0o777, path.endsWith('.ts') ? 0o644 : 0o755, path);
  }
});

test('a private key is never packed', async (t) => {
  const folder = join(await temporaryFolder(t), 'weather');
  await mkdir(join(folder, 'keys'), { recursive: true });
  await writeFile(join(folder, 'bundle.yaml'), 'id: weather\n');
  const keyFile = join(folder, 'keys/key.pem');
  const pack = () => packBundle({ bundleId: 'weather', version: '1.0.0', folder, keyFile });
  await writeFile(keyFile, newKeyPair().privatePem);
  await assert.rejects(pack(), /keys\/key\.pem is a private key/);
  await writeFile(keyFile, '-----BEGIN ENCRYPTED PRIVATE KEY-----\n');
  await assert.rejects(pack(), /keys\/key\.pem is a private key/);
});

for (const [what, damage, named] of [
  [
    'a file is changed',
    (version: string) => writeFile(join(version, 'weather/lib/get.ts'), 'export {};\n'),
    'lib/get.ts',
  ],
  ['a file is missing', (version: string) => rm(join(version, 'weather/lib/get.ts')), 'lib/get.ts'],
  ['a file is added', (version: string) => writeFile(join(version, 'weather/lib/more.ts'), ''), 'lib/more.ts'],
  ['its list of hashes is that of other files', replaceSignatureFile, 'seal.json'],
] as const) {
  test(`the file that differs from the archive is reported when ${what}`, async (t) => {
    const place = await temporaryFolder(t);
    const installed = createInstalledBundles(place);
    const archive = await archiveOf('weather');
    await installed.put(archive, check);
    const version = join(place, '.versions', archive.digest);
    assert.deepEqual(await findChangedFiles(version), []);
    assert.equal(await describeChange(join(version, 'weather')), null);
    await damage(version);
    assert.deepEqual(await findChangedFiles(version), [named]);
    assert.match((await describeChange(join(version, 'weather'))) ?? '', new RegExp(`not offered.*: ${named}\\.`));
  });
}

/** Changes a file together with the list of hashes, like an attacker. */
async function replaceSignatureFile(version: string): Promise<void> {
  await writeFile(join(version, 'weather/lib/get.ts'), 'export {};\n');
  const contents = (await archiveOf('weather', '1.0.1')).contentsBytes.toString();
  await writeFile(join(version, 'seal.json'), JSON.stringify({ contents, signature: null, installed_at: 0 }));
}
