import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { writeBundle } from '../../packages/cli/src/bundles/write-bundle.ts';
import { importOpenApi } from '../../packages/importers/src/testing/import-openapi.suite.ts';
import { load } from '../../packages/server/src/tools/catalogue/load/testing/bundle-folder.suite.ts';
import { corpusRoot } from '../support/corpus.ts';
import { comparePortableSchemas } from './portable-schemas.suite.ts';

/** Documents of third parties with the number of operations that must at least be compared. */
const documents = [
  ...[['tictactoe.3.1.yaml', 3] as const, ['uspto.3.0.yaml', 3] as const],
  ...[['petstore-expanded.3.0.json', 4] as const, ['uber.2.0.json', 5] as const],
  ...[['deepl.3.yaml', 20] as const, ['twilio_messaging_v1.3.0.json', 40] as const],
  ['slack_web.2.0.json', 170] as const,
];

for (const [file, operations] of documents) {
  test(`the offered schemas of ${file} are portable and accept and refuse the same values as the imported ones`, async (t) => {
    const text = await readFile(join(corpusRoot, 'openapi', file), 'utf8');
    const folder = await mkdtemp(join(tmpdir(), 'quartermaster-portable-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    await writeBundle(
      folder,
      importOpenApi(text, file.startsWith('tictactoe') ? { server: 'https://tictactoe.example.com' } : {}),
    );
    const { schemas, accepted, refused } = comparePortableSchemas(await load(folder));
    t.diagnostic(`${schemas} schemas, ${accepted} values accepted, ${refused} refused`);
    assert.ok(schemas >= 4 * operations, `${schemas} schemas`);
    assert.ok(accepted > 0 && refused > 0);
  });
}
