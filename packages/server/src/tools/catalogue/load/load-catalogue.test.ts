import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { createLogger } from '../../../platform/log/logger.ts';
import { loadCatalogue } from './load-catalogue.ts';
import { createFolder, type Files, goodFiles, load, pluginYaml } from './testing/bundle-folder.suite.ts';

test('loading the same folders twice gives the same bytes and tags', async (t) => {
  const folder = await createFolder(t, goodFiles);
  const other = await createFolder(t, Object.fromEntries(Object.entries(goodFiles).reverse()));
  const [first, second] = [await load(folder), await load(other)];
  for (const language of ['en', 'zh']) {
    assert.deepEqual(await first.bundleList(language), await second.bundleList(language));
    assert.deepEqual(await first.pluginList(undefined, language), await second.pluginList(undefined, language));
    assert.deepEqual(await first.bundleDetail('weather', language), await second.bundleDetail('weather', language));
  }
  assert.deepEqual([...first.bundles.keys()], ['sums', 'weather']);
});

test('a response is serialised once for each existing language, whatever clients request', async (t) => {
  const catalogue = await load(await createFolder(t, goodFiles));
  const english = await catalogue.bundleList('en');
  for (const requested of ['', 'xx', 'fr-FR', 'EN', 'en-US', '__proto__', '../../../..', 'z'.repeat(10_000), '----']) {
    assert.equal(await catalogue.bundleList(requested), english, requested);
  }
  const chinese = await catalogue.bundleList('zh');
  assert.notEqual(chinese, english);
  for (const requested of ['zh-CN', 'zh_TW', 'ZH', 'zh-Hant-TW'])
    assert.equal(await catalogue.bundleList(requested), chinese, requested);
});

test('a text that lacks the requested language is returned in English', async (t) => {
  const catalogue = await load(await createFolder(t, goodFiles));
  const list = await catalogue.bundleList('zh');
  const names = JSON.parse(String(list.body)).data.map(({ name }: { name: string }) => name);
  assert.deepEqual(names, ['Sums', '天气']);
});

test('a bundle without code needs no isolation; one with code gets the isolation of the machine', async (t) => {
  const folder = await createFolder(t, goodFiles);
  const options = { folders: [folder], publicUrl: 'http://127.0.0.1:8081', logger: createLogger('silent') };
  const catalogue = await loadCatalogue({ ...options, capabilities: { handlers: 'sandbox' } });
  assert.equal(catalogue.findBundle('weather')?.isolation, 'none');
  assert.equal(catalogue.findBundle('sums')?.isolation, 'sandbox');
});

test('a compiled plugin has its handler, its defaults and its method', async (t) => {
  const folder = await createFolder(t, goodFiles);
  const catalogue = await load(folder);
  const add = catalogue.findPlugin('sums', 'add');
  assert.equal(add?.handlerPath, join(folder, 'sums/add.ts'));
  assert.equal(add?.bundle, catalogue.findBundle('sums'));
  const weather = catalogue.findPlugin('weather', 'get_weather');
  assert.equal(weather?.handlerPath, null);
  assert.equal(weather?.manifest.request?.method, 'GET');
  assert.deepEqual(weather?.readInput({ lat: 1, lon: 2 }), {
    input: { lat: 1, lon: 2, units: 'metric' },
    violations: [],
  });
  assert.deepEqual(weather?.bundle.checkCredentials({}), [
    { path: '/WEATHER_KEY', found: 'nothing', expected: 'a value' },
  ]);
  assert.deepEqual(weather?.bundle.secretNames, new Set(['WEATHER_KEY']));
});

test('a bundle without a credentials schema accepts any object of credentials', async (t) => {
  const catalogue = await load(await createFolder(t, goodFiles));
  const check = catalogue.findBundle('sums')?.checkCredentials;
  assert.deepEqual(check?.({}), []);
  assert.deepEqual(check?.([]), [{ path: '', found: 'an array', expected: 'an object' }]);
});

test('recordings in fixtures, hidden folders and files beside the bundles are ignored', async (t) => {
  const files: Files = {
    ...goodFiles,
    'README.md': 'Bundles.',
    '.git/bundle.yaml': 'id: git',
    'node_modules/x/bundle.yaml': 'id: x',
    'weather/fixtures/answer.yaml': '- any',
    'weather/.cache/x.yaml': '- any',
  };
  const catalogue = await load(await createFolder(t, files));
  assert.deepEqual(catalogue.failures, []);
  assert.equal(catalogue.bundles.size, 2);
});

test('the log has one line for each bundle that fails and one for the load, and repeats no field', async (t) => {
  const yaml = pluginYaml.replace('description:', 'descripton:');
  const files = { ...goodFiles, 'broken/bundle.yaml': 'id: broken\n', 'broken/one.yaml': yaml };
  const folder = await createFolder(t, files);
  const lines: string[] = [];
  const logger = createLogger('trace', { write: (line) => lines.push(line) });
  const options = { folders: [folder], capabilities: { handlers: 'process' as const }, publicUrl: '', logger };
  const { failures } = await loadCatalogue(options);
  assert.ok(failures.length > 1);
  const [failed, loaded, ...others] = lines.map((line) => JSON.parse(line));
  assert.deepEqual(others, []);
  const { level, msg, file, line, field, reason, other_errors } = failed;
  assert.deepEqual([level, msg], ['error', 'bundle load failed']);
  assert.deepEqual({ file, line, field, message: reason }, failures[0]);
  assert.equal(other_errors, failures.length - 1);
  assert.equal(loaded.msg, 'catalogue loaded');
  assert.deepEqual([loaded.bundles, loaded.plugins], [2, 2]);
});
