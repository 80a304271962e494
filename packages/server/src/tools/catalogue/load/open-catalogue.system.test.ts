import assert from 'node:assert/strict';
import { cp, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { createLogger } from '../../../platform/log/logger.ts';
import type { Catalogue } from '../catalogue.ts';
import { openCatalogue } from './open-catalogue.ts';
import { bundleYaml, createFolder, type Files, goodFiles, pluginYaml } from './testing/bundle-folder.suite.ts';

async function open(t: TestContext, files: Files) {
  const folder = await createFolder(t, files);
  const changes: Array<[Catalogue, Catalogue]> = [];
  const lines: string[] = [];
  const live = await openCatalogue({
    folders: [folder],
    capabilities: { handlers: 'process' },
    publicUrl: 'http://127.0.0.1:8081',
    logger: createLogger('info', { write: (line) => lines.push(line) }),
    lookMs: 20,
    onChange: (catalogue, previous) => changes.push([catalogue, previous]),
  });
  t.after(() => live.close());
  /** Resolves with the catalogue that replaces `before`. */
  async function next(before: Catalogue): Promise<Catalogue> {
    while (live.current() === before) await pause(10);
    return live.current();
  }
  return { folder, live, changes, lines, next };
}

test('the next catalogue reflects added, changed and removed bundles; the other bundles are the same objects', async (t) => {
  const { folder, live, changes, next } = await open(t, goodFiles);
  const first = live.current();
  await mkdir(join(folder, 'again'));
  await writeFile(join(folder, 'again', 'bundle.yaml'), bundleYaml.replace('id: weather', 'id: again'));
  await cp(join(folder, 'weather', 'icon.svg'), join(folder, 'again', 'icon.svg'));
  await writeFile(join(folder, 'again', 'get_weather.yaml'), pluginYaml);
  const second = await next(first);
  assert.deepEqual([...second.bundles.keys()], ['again', 'sums', 'weather']);
  assert.equal(second.findBundle('weather'), first.findBundle('weather'));

  await writeFile(join(folder, 'again', 'get_weather.yaml'), pluginYaml.replace('effects: read', 'effects: write'));
  const third = await next(second);
  assert.equal(third.findPlugin('again', 'get_weather')?.manifest.effects, 'write');
  assert.notEqual(third.findBundle('again')?.stamp, second.findBundle('again')?.stamp);
  const [changed, before] = [await third.pluginList(undefined, 'en'), await second.pluginList(undefined, 'en')];
  assert.notEqual(changed?.etag, before?.etag);
  assert.equal(second.findPlugin('again', 'get_weather')?.manifest.effects, 'read', 'runs under way keep theirs');

  await rm(join(folder, 'again'), { recursive: true });
  const fourth = await next(third);
  assert.deepEqual([...fourth.bundles.keys()], ['sums', 'weather']);
  assert.deepEqual(changes.at(-1), [fourth, third]);
});

test('an invalid version is reported and the one before stays in force, until a valid version replaces it', async (t) => {
  const { folder, live, lines, next } = await open(t, goodFiles);
  const first = live.current();
  const path = join(folder, 'weather', 'get_weather.yaml');
  await writeFile(path, pluginYaml.replace('effects: read', 'effects: reads'));
  const second = await next(first);
  assert.equal(second.findBundle('weather'), first.findBundle('weather'));
  assert.deepEqual(second.kept, ['weather']);
  assert.deepEqual(
    second.failures.map(({ file, field }) => [file, field]),
    [['weather/get_weather.yaml', 'effects']],
  );
  assert.ok(lines.some((line) => line.includes('"previous_version_kept":["weather"]')));
  await writeFile(join(folder, 'weather', 'bundle.yaml'), 'no: bundle');
  const third = await next(second);
  assert.equal(third.findBundle('weather'), first.findBundle('weather'));

  await writeFile(join(folder, 'weather', 'bundle.yaml'), bundleYaml.replace('1.0.0', '2.0.0'));
  await writeFile(path, pluginYaml);
  let last = third;
  while (last.kept.length > 0) last = await next(last);
  assert.equal(last.findBundle('weather')?.manifest.version, '2.0.0');
  assert.deepEqual(last.failures, []);
});

test('a bundle that never loaded is reported, and loads after it is corrected', async (t) => {
  const { folder, live, next } = await open(t, { ...goodFiles, 'late/bundle.yaml': 'id: late' });
  const first = live.current();
  assert.deepEqual([first.findBundle('late'), first.kept], [undefined, []]);
  assert.ok(first.failures.length > 0);
  await writeFile(join(folder, 'late', 'get_weather.yaml'), pluginYaml);
  const whole = bundleYaml.replace('id: weather', 'id: late').replace('icon: icon.svg\n', '');
  await writeFile(join(folder, 'late', 'bundle.yaml'), whole);
  let last = first;
  while (last.failures.length > 0) last = await next(last);
  assert.equal(last.findBundle('late')?.plugins.size, 1);
});

test('a link that is changed to another version of a bundle is noticed', async (t) => {
  const { folder, live, next } = await open(t, goodFiles);
  for (const version of ['1.0.0', '3.0.0']) {
    const place = join(folder, '.versions', version, 'sky');
    await mkdir(place, { recursive: true });
    const yaml = bundleYaml.replace('id: weather', 'id: sky').replace('icon: icon.svg\n', '');
    await writeFile(join(place, 'bundle.yaml'), yaml.replace('1.0.0', version));
    await writeFile(join(place, 'get_weather.yaml'), pluginYaml);
  }
  await symlink(join('.versions', '1.0.0', 'sky'), join(folder, 'sky'));
  const first = await next(live.current());
  assert.equal(first.findBundle('sky')?.manifest.version, '1.0.0');
  await symlink(join('.versions', '3.0.0', 'sky'), join(folder, '.sky'));
  await rename(join(folder, '.sky'), join(folder, 'sky'));
  const second = await next(first);
  assert.equal(second.findBundle('sky')?.manifest.version, '3.0.0');
});
