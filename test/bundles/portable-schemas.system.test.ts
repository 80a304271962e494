import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { load } from '../../packages/server/src/tools/catalogue/load/testing/bundle-folder.suite.ts';
import { comparePortableSchemas } from './portable-schemas.suite.ts';

test('the offered schemas of every shipped plugin are portable and accept and refuse the same values as its own', async (t) => {
  const catalogue = await load(resolve(import.meta.dirname, '../../bundles'));
  const { schemas, accepted, refused } = comparePortableSchemas(catalogue);
  t.diagnostic(`${schemas} schemas, ${accepted} values accepted, ${refused} refused`);
  // Each plugin has an output schema in one format and an input schema in three.
  assert.ok(schemas >= 4 * 135);
  assert.ok(accepted > 5_000 && refused > 5_000);
});
