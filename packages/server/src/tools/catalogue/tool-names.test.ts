import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { before, test } from 'node:test';
import { definitionFormats, maxToolName } from '@quartermaster/contract';
import type { Catalogue } from './catalogue.ts';
import { loadFolder } from './load/load-folder.ts';
import { createFolder, goodFiles, load } from './load/testing/bundle-folder.suite.ts';
import { getPluginOfTool } from './tool-names.ts';

let own: Catalogue;
before(async () => {
  own = await loadFolder(resolve(import.meta.dirname, '../../../../../bundles'));
});

/** The name in a definition that a model or an agent answers with. */
function nameIn(definition: Record<string, unknown>): string {
  const { name } = (definition.function ?? definition) as { name: string };
  return definition.object === 'Plugin' ? `${definition.bundle_id}/${definition.plugin_id}` : name;
}

/** Asserts for every plugin and format that the name in the definition leads to the plugin. */
function checkNames(catalogue: Catalogue): number {
  let count = 0;
  for (const bundle of catalogue.bundles.values()) {
    for (const plugin of bundle.plugins.values()) {
      for (const format of definitionFormats) {
        const defined = catalogue.definePlugin(plugin, format, 'en');
        const definition = Reflect.get(defined, 'definition') ?? defined;
        assert.equal(getPluginOfTool(catalogue, nameIn(definition)), plugin, `${format} ${bundle.id}/${plugin.id}`);
        count += 1;
      }
    }
  }
  return count;
}

test('the name of every shipped plugin in each format identifies this plugin', () => {
  assert.ok(checkNames(own) >= 135 * definitionFormats.length);
});

test('truncated names identify their plugins', async (t) => {
  const long = 'get_the_weather_of_a_place_in_the_past_by_its_name_and_day';
  const files = Object.fromEntries(
    [`${long}_one`, `${long}_two`].map((id) => [
      `weather/${id}.yaml`,
      String(goodFiles['weather/get_weather.yaml']).replace('id: get_weather', `id: ${id}`),
    ]),
  );
  const catalogue = await load(await createFolder(t, { ...goodFiles, ...files }));
  assert.deepEqual(catalogue.failures, []);
  assert.equal(checkNames(catalogue), 4 * definitionFormats.length);
});

test('a name that several plugins have is an error with the names to choose from, and the bundle decides', () => {
  const byId = Map.groupBy(
    [...own.bundles.values()].flatMap(({ plugins }) => [...plugins.values()]),
    ({ id }) => id,
  );
  const [id, plugins] = [...byId].find(([, same]) => same.length > 1) ?? [];
  assert.ok(id !== undefined && plugins !== undefined);
  const [first] = plugins;
  assert.throws(() => getPluginOfTool(own, id), {
    code: 'REQUEST_VALIDATION_ERROR',
    message: new RegExp(`^body/tool_name must be .*"${first?.bundle.id}__${id}"`),
  });
  for (const plugin of plugins) assert.equal(getPluginOfTool(own, id, plugin.bundle.id), plugin);
  assert.equal(getPluginOfTool(own, 'evaluate').bundle.id, 'calculator');
});

test('an unknown name is an error with the name that was probably meant', () => {
  const unknown = { code: 'OBJECT_NOT_FOUND' };
  assert.throws(() => getPluginOfTool(own, 'calculater__evaluate'), {
    ...unknown,
    message: /^No plugin has the tool name "calculater__evaluate". Did you mean "calculator__evaluate"\?/,
  });
  assert.throws(() => getPluginOfTool(own, 'stability_ai__create_imgae'), {
    message: /Did you mean "stability_ai__create_image"\?/,
  });
  assert.throws(() => getPluginOfTool(own, 'evaluate', 'time'), unknown);
  for (const name of ['__proto__', 'constructor', 'x'.repeat(maxToolName)]) {
    assert.throws(() => getPluginOfTool(own, name), unknown);
  }
});

test('the name of a tool of a retired bundle is an error that says what to use instead', () => {
  for (const [name, bundleId] of [
    ['trip_advisor__location_details'],
    ['trip_advisor/location_details'],
    ['location_details', 'trip_advisor'],
  ] as const) {
    assert.throws(() => getPluginOfTool(own, name, bundleId), {
      code: 'OBJECT_NOT_FOUND',
      message: /^The bundle "trip_advisor" was retired on 2026-08-31\. .* Use maps_search/,
    });
  }
});

test('an unknown name is an error that asks to retry while bundles load', () => {
  const loading = { bundles: own.bundles, loading: ['github'] };
  assert.throws(() => getPluginOfTool(loading, 'github__nothing'), { code: 'SERVICE_UNAVAILABLE' });
});
