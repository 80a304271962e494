import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { AwsSigning, BundleManifest, HmacSigning, OAuth2, PluginManifest } from '@quartermaster/plugin-kit';
import { blocksRunBy } from '../../../../../../test/support/documented-blocks.ts';
import { createFolder, load } from '../load/testing/bundle-folder.suite.ts';

const guide = await readFile(resolve(import.meta.dirname, '../../../../../../docs/guides/bundles.md'), 'utf8');

/** The fenced blocks whose first line names a file, for example "```yaml weather/bundle.yaml". */
const examples = Object.fromEntries(
  Array.from(guide.matchAll(/^```\w+ (\S+\/\S+)\n(.*?)^```$/gms), ([, path, content]) => [
    String(path),
    String(content),
  ]),
);

test('the examples of the guide load as printed', async (t) => {
  assert.equal(Object.keys(examples).length, 6);
  const catalogue = await load(await createFolder(t, examples));
  assert.deepEqual(catalogue.failures, []);
  assert.equal(catalogue.findBundle('weather')?.isolation, 'none');
  assert.equal(catalogue.findBundle('statistics')?.isolation, 'process');
});

test('the example calls match their schemas, and the handler returns the documented output', async (t) => {
  const folder = await createFolder(t, examples);
  const catalogue = await load(folder);
  for (const plugin of [...catalogue.bundles.values()].flatMap(({ plugins }) => [...plugins.values()])) {
    assert.ok(plugin.manifest.examples?.length);
    for (const { input, output } of plugin.manifest.examples) {
      assert.deepEqual(plugin.readInput(input).violations, []);
      assert.deepEqual(plugin.checkOutput(output), []);
    }
  }
  // This is the only handler that a test runs in its own process. The guide prints it, so its code is trusted.
  const plugin = catalogue.findPlugin('statistics', 'median');
  const { run } = await import(pathToFileURL(String(plugin?.handlerPath)).href);
  for (const { input, output } of plugin?.manifest.examples ?? []) assert.deepEqual(run(input), output);
});

test('the injections of the guide load as printed', async (t) => {
  const printed = blocksRunBy(import.meta.filename).map(({ text }) => text);
  assert.equal(printed.length, 4);
  const plugin = String(examples['statistics/median.yaml']).replace('id: median', 'id: go');
  for (const text of printed) {
    const names = new Set(text.match(/(?<=: )[A-Z][A-Z0-9_]+(?=[\n,}])/g));
    const properties = [...names].map((name) => `    ${name}: {type: string, description: One.}\n`).join('');
    const hosts = text.startsWith('hosts:') ? '' : 'hosts: []\n';
    const about = 'id: printed\nversion: 1.0.0\nname: A\ndescription: B\nprovider: C\ndeveloper: D\n';
    const schema = `credentials_schema:\n  type: object\n  properties:\n${properties}`;
    const files = {
      'printed/bundle.yaml': `${about}${hosts}${schema}${text}`,
      'printed/go.yaml': plugin,
      'printed/median.ts': 'export const run = () => ({});',
    };
    const catalogue = await load(await createFolder(t, files));
    assert.deepEqual(catalogue.failures, []);
  }
});

test('the guide names every member of the manifests', () => {
  const described = [BundleManifest, PluginManifest, AwsSigning, HmacSigning, OAuth2];
  const members = described.flatMap(({ properties }) => Object.keys(properties));
  for (const member of members) assert.match(guide, new RegExp(`\`${member}\`|^ +(?:- )?${member}:`, 'm'), member);
});
