import assert from 'node:assert/strict';
import { chmod, chown, cp, readdir, readFile, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createLogger } from '../../../platform/log/logger.ts';
import type { Catalogue } from '../catalogue.ts';
import { createInstalledManifests, createManifestCache, writeInstalledManifests } from './manifest-cache.ts';
import { openCatalogue } from './open-catalogue.ts';
import { unpackManifest } from './packed-bundle.ts';
import { bundleYaml, createFolder, type Files, goodFiles, pluginYaml } from './testing/bundle-folder.suite.ts';

interface Place {
  readonly bundles: string;
  readonly folder: string;
  readonly installed?: string;
  readonly version?: string;
}

interface Start {
  readonly catalogue: Catalogue;
  /** The number of bundles whose files were read. */
  readonly read: number;
  /** The number of plugin manifests that were unpacked. A schema can only be compiled after that. */
  readonly unpacked: number;
}

async function createPlace(t: TestContext, files: Files = goodFiles): Promise<Place> {
  return { bundles: await createFolder(t, files), folder: join(await createFolder(t, {}), 'cache', 'bundles') };
}

/** Loads the catalogue like one start of the service, and caches the manifests it has checked. */
async function start({ bundles, folder, installed, version = '1.0.0' }: Place): Promise<Start> {
  const lines: string[] = [];
  let unpacked = 0;
  const live = await openCatalogue({
    folders: [bundles],
    capabilities: { handlers: 'process' },
    publicUrl: 'http://127.0.0.1:8081',
    logger: createLogger('info', { write: (line) => lines.push(line) }),
    cache: createManifestCache({
      folder,
      version,
      ...(installed === undefined ? {} : { installed: createInstalledManifests({ folder: installed, version }) }),
    }),
    readManifest: (packed) => {
      unpacked += 1;
      return unpackManifest(packed);
    },
  });
  await live.close();
  const loaded = lines.map((line) => JSON.parse(line)).find(({ msg }) => msg.startsWith('catalogue loaded'));
  return { catalogue: live.current(), read: loaded.read, unpacked };
}

const failuresOf = ({ catalogue }: Start) =>
  catalogue.failures.map(({ file, line, field, message }) => `${file}:${line} ${field}: ${message}`);
const listsOf = ({ catalogue }: Start) =>
  Promise.all(['en', 'zh'].map(async (language) => String((await catalogue.pluginList(undefined, language))?.body)));
const effectsOf = ({ catalogue }: Start) => catalogue.findPlugin('weather', 'get_weather')?.manifest.effects;
async function entryOf({ folder }: Place, bundle: string): Promise<string> {
  const names = await readdir(folder);
  return join(folder, names.find((name) => name.startsWith(`${bundle}.`)) ?? 'missing');
}

test('a second start reads no file of a bundle, unpacks no manifest, and lists the same bytes', async (t) => {
  const place = await createPlace(t);
  const [first, second] = [await start(place), await start(place)];
  assert.deepEqual([first.read, second.read], [2, 0]);
  assert.equal(second.unpacked, 0);
  assert.deepEqual(await listsOf(second), await listsOf(first));
  assert.deepEqual([first.catalogue.failures, second.catalogue.failures], [[], []]);
  assert.deepEqual(second.catalogue.findIcon('weather'), first.catalogue.findIcon('weather'));
});

test('a bundle with a changed byte is read again, even when size and modification time of the file are unchanged', async (t) => {
  const place = await createPlace(t);
  await start(place);
  const path = join(place.bundles, 'weather', 'get_weather.yaml');
  const { atime, mtime } = await stat(path);
  await writeFile(path, pluginYaml.replace('minimum: -90', 'minimum: -9o'));
  await utimes(path, atime, mtime);
  assert.deepEqual(failuresOf(await start(place)), [
    'weather/get_weather.yaml:11 input_schema.properties.lat.minimum: Must be a number; received a string ("-9o").',
  ]);
});

for (const [invalidYaml, line] of [
  [pluginYaml.replace('effects: read', 'effects: reads'), 4],
  [pluginYaml.replace("'{lon}'", "'{long}'"), 21],
] as const) {
  test(`a bundle with an error in line ${line} is never cached, so each start reports it`, async (t) => {
    const place = await createPlace(t, { ...goodFiles, 'weather/get_weather.yaml': invalidYaml });
    const [first, second] = [failuresOf(await start(place)), failuresOf(await start(place))];
    assert.deepEqual(second, first);
    assert.deepEqual(
      first.map((text) => text.split(' ', 1)[0]),
      [`weather/get_weather.yaml:${line}`],
    );
    assert.deepEqual(
      (await readdir(place.folder)).map((name) => name.split('.')[0]),
      ['sums'],
    );
  });
}

test('a cached plugin is checked again when its bundle.yaml changes', async (t) => {
  const place = await createPlace(t);
  await start(place);
  const other = bundleYaml.replaceAll('api.example.com', 'api.example.org');
  await writeFile(join(place.bundles, 'weather', 'bundle.yaml'), other);
  assert.match(
    failuresOf(await start(place)).join(),
    /^weather\/get_weather\.yaml:20 request\.url: The host api\.example\.com is not one of/,
  );
});

test('a cached bundle is checked again when its folder is renamed', async (t) => {
  const place = await createPlace(t);
  await start(place);
  const folder = join(place.bundles, 'weather');
  await rename(join(folder, 'get_weather.yaml'), join(folder, 'see_weather.yaml'));
  assert.match(failuresOf(await start(place)).join(), /^weather\/see_weather\.yaml:1 id: Must be "see_weather"/);
  await rename(folder, join(place.bundles, 'climate'));
  assert.match(failuresOf(await start(place)).join(), /^climate\/bundle\.yaml:1 id: Must be "climate"/);
});

test('a missing or invalid handler or icon is reported with its line', async (t) => {
  const place = await createPlace(t);
  await start(place);
  await rm(join(place.bundles, 'sums', 'add.ts'));
  await writeFile(join(place.bundles, 'weather', 'icon.svg'), 'no picture');
  const lines = failuresOf(await start(place));
  assert.equal(lines.length, 2);
  assert.match(lines[0] ?? '', /^sums\/add\.yaml:\d+ handler: The file add\.ts does not exist in the folder/);
  assert.match(lines[1] ?? '', /^weather\/bundle\.yaml:7 icon: icon\.svg is not an SVG image/);
});

const damages: Record<string, (file: string) => Promise<void>> = {
  'is empty': (file) => writeFile(file, ''),
  'is cut short': async (file) => writeFile(file, (await readFile(file)).subarray(0, -40)),
  'has a changed byte': async (file) => {
    const content = await readFile(file);
    content.writeUInt8(content.readUInt8(content.length - 9) ^ 1, content.length - 9);
    await writeFile(file, content);
  },
  'may be written by others': (file) => chmod(file, 0o620),
  'is a link': async (file) => {
    await rename(file, `${file}.elsewhere`);
    await symlink(`${file}.elsewhere`, file);
  },
};
// Only root can change the owner of a file.
if (process.geteuid?.() === 0) damages['belongs to another user'] = (file) => chown(file, 65_534, 65_534);

for (const [what, damage] of Object.entries(damages)) {
  test(`an entry of the manifest cache that ${what} is ignored and written again`, async (t) => {
    const place = await createPlace(t);
    await start(place);
    const file = await entryOf(place, 'weather');
    await damage(file);
    const again = await start(place);
    assert.deepEqual([again.read, effectsOf(again), again.catalogue.failures], [1, 'read', []]);
    const facts = await stat(file);
    assert.deepEqual([facts.mode & 0o777, facts.uid], [0o600, process.geteuid?.()]);
    assert.equal((await start(place)).read, 0);
  });
}

test('another version of the product reads every bundle again', async (t) => {
  const place = await createPlace(t);
  await start(place);
  assert.equal((await start({ ...place, version: '1.0.1' })).read, 2);
  assert.equal((await start({ ...place, version: '1.0.1' })).read, 0);
});

async function createInstalledPlace(t: TestContext): Promise<Place & { readonly installed: string }> {
  const place = await createPlace(t);
  const installed = join(await createFolder(t, {}), 'installed');
  await writeInstalledManifests(place.bundles, { folder: installed, version: '1.0.0' });
  return { ...place, installed };
}

/** Copies every file, so that inodes and times change. */
async function copyInPlace(folder: string): Promise<void> {
  await rename(folder, `${folder}.old`);
  await cp(`${folder}.old`, folder, { recursive: true });
  await rm(`${folder}.old`, { recursive: true });
}

test('the cache of the installation is used and not written again, and entries of removed bundles are deleted', async (t) => {
  const place = await createInstalledPlace(t);
  assert.equal((await start(place)).read, 0);
  await assert.rejects(stat(place.folder), { code: 'ENOENT' });
  const path = join(place.bundles, 'weather', 'get_weather.yaml');
  await writeFile(path, pluginYaml.replace('effects: read', 'effects: write'));
  assert.equal(effectsOf(await start(place)), 'write');
  assert.equal((await readdir(place.folder)).length, 1);
  await rm(join(place.bundles, 'weather'), { recursive: true });
  await start(place);
  assert.equal((await readdir(place.folder)).length, 0);
});

test('the cache of the installation is valid for a copy of the same files in the same place', async (t) => {
  const place = await createInstalledPlace(t);
  await copyInPlace(place.bundles);
  const first = await start(place);
  assert.deepEqual([first.read, effectsOf(first)], [0, 'read']);
});

test('the cache of the installation is invalid for other contents with the same sizes and times, and for another version', async (t) => {
  const place = await createInstalledPlace(t);
  const path = join(place.bundles, 'weather', 'get_weather.yaml');
  const { atime, mtime } = await stat(path);
  await writeFile(path, pluginYaml.replace('minimum: -90', 'minimum: -9o'));
  await utimes(path, atime, mtime);
  assert.match(failuresOf(await start(place)).join(), /get_weather\.yaml:11 .*Must be a number/);
  await writeFile(path, pluginYaml);
  assert.equal((await start({ ...place, version: '1.0.1' })).read, 2);
});

test('the installation caches no bundle with an error', async (t) => {
  const place = await createPlace(t, { ...goodFiles, 'weather/get_weather.yaml': 'id: 5' });
  const installed = join(await createFolder(t, {}), 'installed');
  await writeInstalledManifests(place.bundles, { folder: installed, version: '1.0.0' });
  assert.deepEqual(
    (await readdir(installed)).map((name) => name.split('.')[0]),
    ['sums'],
  );
});
