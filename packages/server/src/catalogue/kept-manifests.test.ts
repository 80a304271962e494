import assert from 'node:assert/strict';
import { chmod, chown, readFile, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createLogger } from '../kernel/logger.ts';
import { bundleYaml, type Files, goodFiles, makeFolder, pluginYaml } from './bundle-folder.suite.ts';
import type { Catalogue } from './catalogue.ts';
import { checksDigest } from './checks-digest.ts';
import { readManifestsFile, writeManifestsFile } from './manifests-file.ts';
import { openCatalogue } from './open-catalogue.ts';

interface Place {
  readonly bundles: string;
  readonly file: string;
  readonly shipped?: string;
}

async function makePlace(t: TestContext, files: Files = goodFiles): Promise<Place> {
  return { bundles: await makeFolder(t, files), file: join(await makeFolder(t, {}), 'cache', 'manifests.jsonl') };
}

/** What one start finds; what it has found right is kept when it ends. */
async function start({ bundles, ...kept }: Place): Promise<Catalogue> {
  const live = await openCatalogue({
    folders: [bundles],
    capabilities: { handlers: 'process' },
    publicUrl: 'http://127.0.0.1:8081',
    logger: createLogger('silent'),
    kept,
  });
  await live.close();
  return live.current();
}

const told = (catalogue: Catalogue) =>
  catalogue.failures.map(({ file, line, field, message }) => `${file}:${line} ${field}: ${message}`);
const listed = (catalogue: Catalogue) =>
  ['en', 'zh'].map((language) => String(catalogue.pluginList(undefined, language)?.body));
const effectsOf = (catalogue: Catalogue) => catalogue.findPlugin('weather', 'get_weather')?.manifest.effects;

/** As if the checks had found something else in the manifest of the plugin: shows whether what is kept is used. */
async function changeKept(file: string): Promise<void> {
  const checks = checksDigest();
  const entries = new Map(
    [...readManifestsFile(file, checks)].map(([key, manifest]) => [
      key,
      Buffer.from(manifest.toString().replace('"effects":"read"', '"effects":"destructive"')),
    ]),
  );
  await writeManifestsFile(file, { checks, entries });
}

test('the next start takes what was right from what is kept, and lists the same bytes', async (t) => {
  const place = await makePlace(t);
  const [first, second] = [await start(place), await start(place)];
  assert.deepEqual(listed(second), listed(first));
  assert.deepEqual([first.failures, second.failures], [[], []]);
  await changeKept(place.file);
  assert.equal(effectsOf(await start(place)), 'destructive');
});

test('a byte that was changed is checked anew, even when size and time of the file are the same', async (t) => {
  const place = await makePlace(t);
  await start(place);
  await changeKept(place.file);
  const path = join(place.bundles, 'weather', 'get_weather.yaml');
  const { atime, mtime } = await stat(path);
  await writeFile(path, pluginYaml.replace('minimum: -90', 'minimum: -9o'));
  await utimes(path, atime, mtime);
  const changed = await start(place);
  assert.deepEqual(told(changed), [
    'weather/get_weather.yaml:11 input_schema.properties.lat.minimum: Expected number, found string "-9o".',
  ]);
  await writeFile(path, pluginYaml.replace('minimum: -90', 'minimum: -80'));
  assert.equal(effectsOf(await start(place)), 'read');
});

for (const [mistake, line] of [
  [pluginYaml.replace('effects: read', 'effects: reads'), 4],
  [pluginYaml.replace("'{lon}'", "'{long}'"), 21],
] as const) {
  test(`a mistake in line ${line} is never kept: each start tells it`, async (t) => {
    const place = await makePlace(t, { ...goodFiles, 'weather/get_weather.yaml': mistake });
    const [first, second] = [told(await start(place)), told(await start(place))];
    assert.deepEqual(second, first);
    assert.deepEqual(
      first.map((text) => text.split(' ', 1)[0]),
      [`weather/get_weather.yaml:${line}`],
    );
    assert.doesNotMatch(await readFile(place.file, 'utf8'), /get_weather/);
  });
}

test('a plugin that was right beside one bundle.yaml is checked anew beside another', async (t) => {
  const place = await makePlace(t);
  await start(place);
  const other = bundleYaml.replaceAll('api.example.com', 'api.example.org');
  await writeFile(join(place.bundles, 'weather', 'bundle.yaml'), other);
  const again = told(await start(place));
  assert.equal(again.length, 1);
  assert.match(again.join(), /^weather\/get_weather\.yaml:20 request\.url: The host api\.example\.com is not one of/);
});

test('what was right under one name is checked anew under another', async (t) => {
  const place = await makePlace(t);
  await start(place);
  const folder = join(place.bundles, 'weather');
  await rename(join(folder, 'get_weather.yaml'), join(folder, 'see_weather.yaml'));
  assert.match(told(await start(place)).join(), /^weather\/see_weather\.yaml:1 id: Expected "see_weather"/);
  await rename(folder, join(place.bundles, 'climate'));
  assert.match(told(await start(place)).join(), /^climate\/bundle\.yaml:1 id: Expected "climate"/);
});

test('files that known manifests name are looked for each time; the mistake has its line', async (t) => {
  const place = await makePlace(t);
  await start(place);
  await rm(join(place.bundles, 'sums', 'add.ts'));
  await writeFile(join(place.bundles, 'weather', 'icon.svg'), 'no picture');
  const lines = told(await start(place));
  assert.equal(lines.length, 2);
  assert.match(lines[0] ?? '', /^sums\/add\.yaml:\d+ handler: There is no file add\.ts/);
  assert.match(lines[1] ?? '', /^weather\/bundle\.yaml:7 icon: icon\.svg is no SVG picture/);
});

const damages: Record<string, (file: string) => Promise<void>> = {
  'is empty': (file) => writeFile(file, ''),
  'is cut short': async (file) => writeFile(file, (await readFile(file)).subarray(0, -40)),
  'was edited': async (file) => writeFile(file, (await readFile(file, 'utf8')).replace('destructive', 'write')),
  'belongs to other checks': async (file) =>
    writeManifestsFile(file, { checks: 'others', entries: readManifestsFile(file, checksDigest()) }),
  'may be written by others': (file) => chmod(file, 0o620),
  'is a link': async (file) => {
    await rename(file, `${file}.elsewhere`);
    await symlink(`${file}.elsewhere`, file);
  },
};
// Only an administrator can give a file away.
if (process.geteuid?.() === 0) damages['belongs to somebody else'] = (file) => chown(file, 65_534, 65_534);

for (const [what, damage] of Object.entries(damages)) {
  test(`a file of kept manifests that ${what} is as none, and is written anew`, async (t) => {
    const place = await makePlace(t);
    await start(place);
    await changeKept(place.file);
    await damage(place.file);
    assert.equal(effectsOf(await start(place)), 'read');
    const facts = await stat(place.file);
    assert.deepEqual([facts.mode & 0o777, facts.uid], [0o600, process.geteuid?.()]);
    assert.equal(readManifestsFile(place.file, checksDigest()).size, 4);
  });
}

test('what came with the product is known from there and not kept again; what is gone is forgotten', async (t) => {
  const place = await makePlace(t);
  await start(place);
  const shipped = join(await makeFolder(t, {}), 'shipped.jsonl');
  await rename(place.file, shipped);
  const again = { ...place, shipped };
  await start(again);
  await assert.rejects(stat(place.file), { code: 'ENOENT' });
  await writeFile(
    join(place.bundles, 'weather', 'get_weather.yaml'),
    pluginYaml.replace('effects: read', 'effects: write'),
  );
  await start(again);
  assert.equal(readManifestsFile(place.file, checksDigest()).size, 1);
  await rm(join(place.bundles, 'weather'), { recursive: true });
  await start(again);
  assert.equal(readManifestsFile(place.file, checksDigest()).size, 0);
});
