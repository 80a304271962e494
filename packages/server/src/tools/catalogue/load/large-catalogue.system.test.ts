import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { createLogger } from '../../../platform/log/logger.ts';
import type { Catalogue } from '../catalogue.ts';
import { createManifestReader } from './manifest-reader.ts';
import { type OpenCatalogueOptions, openCatalogue } from './open-catalogue.ts';
import type { PackedManifest } from './packed-bundle.ts';
import { bundleYaml, createFolder, type Files, pluginYaml } from './testing/bundle-folder.suite.ts';

/** Returns bundles of plugins with large schemas, like those of an import. */
function importedBundles(bundles: number, plugins: number): Files {
  const files: Record<string, string> = {};
  const property = (n: number) =>
    `    p${n}: {type: string, pattern: '^[a-z]{1,${n + 1}}$', description: Part ${n}.}\n`;
  const properties = Array.from({ length: 40 }, (_, n) => property(n)).join('');
  for (let b = 0; b < bundles; b++) {
    const id = `imported_${b}`;
    files[`${id}/bundle.yaml`] = bundleYaml.replace('id: weather', `id: ${id}`).replace('icon: icon.svg\n', '');
    for (let p = 0; p < plugins; p++) {
      const yaml = pluginYaml.replace('id: get_weather', `id: plugin_${p}`);
      files[`${id}/plugin_${p}.yaml`] = yaml.replace('  properties:\n', () => `  properties:\n${properties}`);
    }
  }
  return files;
}

async function open(t: TestContext, folder: string, options: Partial<OpenCatalogueOptions> = {}) {
  const lines: Array<Record<string, unknown>> = [];
  const live = await openCatalogue({
    folders: [folder],
    capabilities: { handlers: 'process' },
    publicUrl: 'http://127.0.0.1:8081',
    logger: createLogger('info', { write: (line) => lines.push(JSON.parse(line)) }),
    lookMs: 20,
    ...options,
  });
  t.after(() => live.close());
  async function until(isDone: (catalogue: Catalogue) => boolean): Promise<Catalogue> {
    while (!isDone(live.current())) await pause(10);
    return live.current();
  }
  return { live, lines, until };
}

test('bundles that take too long at a start are read in a thread while the service runs, and are reported as loading', async (t) => {
  const folder = await createFolder(t, importedBundles(9, 3));
  const { live, lines, until } = await open(t, folder, { firstReadBytes: 15_000 });
  const first = live.current();
  assert.deepEqual([first.bundles.size + first.loading.length, first.failures], [9, []]);
  assert.ok(first.bundles.size >= 1 && first.loading.length >= 7, `${first.loading.length} bundles are left`);
  assert.equal(first.findBundle('imported_8'), undefined);
  const last = await until(({ loading }) => loading.length === 0);
  assert.deepEqual([last.bundles.size, last.failures], [9, []]);
  assert.equal(last.findPlugin('imported_8', 'plugin_2')?.manifest.effects, 'read');
  const read = lines.filter(({ msg }) => /^catalogue/.test(String(msg))).map((line) => Number(line.read));
  assert.equal(
    read.reduce((sum, count) => sum + count, 0),
    9,
    'every bundle is read once',
  );
  assert.equal(last.findBundle('imported_0'), first.findBundle('imported_0'));
});

test('an error in a bundle that the thread reads is reported with its line, and hides no other bundle', async (t) => {
  const wrong = pluginYaml.replace('id: get_weather', 'id: plugin_0').replace('effects: read', 'effects: reads');
  const folder = await createFolder(t, { ...importedBundles(3, 2), 'imported_1/plugin_0.yaml': wrong });
  const { until } = await open(t, folder, { firstReadBytes: 0 });
  const catalogue = await until(({ loading }) => loading.length === 0);
  assert.deepEqual(
    catalogue.failures.map(({ file, line }) => `${file}:${line}`),
    ['imported_1/plugin_0.yaml:4'],
  );
  assert.deepEqual(
    [...catalogue.bundles.values()].map(({ plugins }) => plugins.size),
    [2, 1, 2],
  );
});

test('closing a catalogue while its thread reads ends the thread and logs no error', async (t) => {
  const folder = await createFolder(t, importedBundles(6, 30));
  const { live, lines } = await open(t, folder, { firstReadBytes: 0 });
  await pause(50);
  await live.close();
  assert.deepEqual(
    lines.filter(({ level }) => level === 'error'),
    [],
  );
});

test('a manifest is read when its plugin is used, and only recently used manifests stay in memory', async (t) => {
  const folder = await createFolder(t, importedBundles(2, 20));
  const read: PackedManifest[] = [];
  const keep = createManifestReader(30_000);
  const readManifest = (packed: PackedManifest) => {
    read.push(packed);
    return keep(packed);
  };
  const { live } = await open(t, folder, { readManifest });
  assert.equal(read.length, 0, 'none at start');
  const plugins = [...live.current().bundles.values()].flatMap((bundle) => [...bundle.plugins.values()]);
  const [first] = plugins;
  const input = { lat: 1, lon: 2 };
  assert.deepEqual(first?.readInput(input).violations, []);
  assert.equal(read.length, 1, 'the schema of one plugin is compiled');
  assert.deepEqual(first?.readInput(input).violations, []);
  assert.equal(read.length, 1, 'and compiled once');
  assert.equal(first?.manifest, first?.manifest, 'what was used last is held');
  const before = first?.manifest;
  for (const plugin of plugins) assert.equal(plugin.manifest.id, plugin.id);
  assert.notEqual(first?.manifest, before, 'what was used long ago is unpacked again');
  assert.deepEqual(first?.manifest, before);
});

test('a bundle that changes while the service runs is also read in the thread', async (t) => {
  const folder = await createFolder(t, importedBundles(1, 1));
  const { until } = await open(t, folder);
  const path = join(folder, 'imported_0', 'plugin_0.yaml');
  await writeFile(
    path,
    pluginYaml.replace('id: get_weather', 'id: plugin_0').replace('effects: read', 'effects: write'),
  );
  const changed = await until(
    (catalogue) => catalogue.findPlugin('imported_0', 'plugin_0')?.manifest.effects === 'write',
  );
  assert.deepEqual(changed.failures, []);
});
