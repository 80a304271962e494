import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { corpusRoot } from '../support/corpus.ts';
import { type ImportedDocument, testImport, totals } from './openapi-import.suite.ts';

/** Documents of third parties, ordered by size. */
const documents: ReadonlyArray<Omit<ImportedDocument, 'leastImported'>> = [
  { file: 'tictactoe.3.1.yaml', options: { server: 'https://tictactoe.example.com' }, calls: 5 },
  { file: 'uspto.3.0.yaml', calls: 5 },
  { file: 'petstore-expanded.3.0.json', calls: 5 },
  { file: 'uber.2.0.json', calls: 5 },
  { file: 'deepl.3.yaml', calls: 2 },
  { file: 'twilio_messaging_v1.3.0.json', calls: 2 },
  { file: 'slack_web.2.0.json', calls: 2 },
];

for (const document of documents) {
  testImport({ ...document, file: join(corpusRoot, 'openapi', document.file), leastImported: 0.98 });
}

test('nearly all operations of all documents are imported', (t) => {
  t.diagnostic(`${totals.imported} of ${totals.operations}`);
  assert.ok(totals.operations > 290);
  assert.ok(totals.imported / totals.operations >= 0.98);
});
