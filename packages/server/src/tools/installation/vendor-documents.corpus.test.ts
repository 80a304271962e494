import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { corpusRoot } from '../../../../../test/support/corpus.ts';
import type { Outbound } from '../../platform/outbound.ts';
import { temporaryFolder } from '../../platform/testing/temporary-folder.ts';
import { openArchive } from '../packaging/archive.ts';
import { createInstalledBundles } from '../packaging/installed-bundles.ts';
import { loadBundle } from './load-bundle.ts';
import { createReadDefinitions } from './read-definitions.ts';

/** Documents of third parties, with the least number of actions. */
const documents: Readonly<Record<string, number>> = {
  'openapi/uber.2.0.json': 5,
  'openapi/slack_web.2.0.json': 170,
  'vendors/box.json': 290,
  'vendors/clickup.json': 130,
  'vendors/asana.yaml': 240,
};
const noNetwork: Outbound = { send: () => assert.fail('nothing is fetched'), close: async () => {} };

for (const [file, least] of Object.entries(documents)) {
  test(`${file} becomes a bundle that the service loads`, async (t) => {
    const content = await readFile(join(corpusRoot, file), 'utf8');
    const read = createReadDefinitions(noNetwork);
    const { signal } = new AbortController();
    const found = await read({ kind: 'openapi', content }, undefined, signal);
    const folders = createInstalledBundles(await temporaryFolder(t));
    const bundle = await folders.check(await openArchive(found.bytes), (path) => loadBundle(path, []));
    t.diagnostic(`${bundle.plugins.size} actions, ${found.warnings.length} warnings`);
    assert.ok(bundle.plugins.size >= least, `${bundle.plugins.size}`);
  });
}
