import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { BundleManifest, PluginManifest } from '@quartermaster/plugin-kit';
import { load, makeFolder } from './bundle-folder.suite.ts';

const guide = await readFile(resolve(import.meta.dirname, '../../../../docs/guides/bundles.md'), 'utf8');

/** The fenced blocks whose first line names a file: "```yaml weather/bundle.yaml". */
const examples = Object.fromEntries(
  Array.from(guide.matchAll(/^```\w+ (\S+\/\S+)\n(.*?)^```$/gms), ([, path, content]) => [
    String(path),
    String(content),
  ]),
);

test('the examples of the guide load as they are printed', async (t) => {
  assert.equal(Object.keys(examples).length, 5);
  const catalogue = await load(await makeFolder(t, examples));
  assert.deepEqual(catalogue.failures, []);
  assert.equal(catalogue.findBundle('weather')?.isolation, 'none');
  assert.equal(catalogue.findBundle('statistics')?.isolation, 'process');
});

test('the worked calls of the examples keep to their schemas, and the handler does what they say', async (t) => {
  const folder = await makeFolder(t, examples);
  const catalogue = await load(folder);
  for (const plugin of [...catalogue.bundles.values()].flatMap(({ plugins }) => [...plugins.values()])) {
    assert.ok(plugin.manifest.examples?.length);
    for (const { input, output } of plugin.manifest.examples) {
      assert.deepEqual(plugin.readInput(input).violations, []);
      assert.deepEqual(plugin.checkOutput(output), []);
    }
  }
  // The one handler a test runs in its own process: it is ours, printed in the guide.
  const plugin = catalogue.findPlugin('statistics', 'median');
  const { run } = await import(pathToFileURL(String(plugin?.handlerPath)).href);
  for (const { input, output } of plugin?.manifest.examples ?? []) assert.deepEqual(run(input), output);
});

test('the guide names every member of the manifests', () => {
  const members = [...Object.keys(BundleManifest.properties), ...Object.keys(PluginManifest.properties)];
  for (const member of members) assert.ok(guide.includes(`\`${member}\``), `${member} is not described`);
});
