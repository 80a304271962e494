import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '../../../platform/log/logger.ts';
import { createSteppedExtractor } from '../../../stores/ingestion/testing/stepped-extractor.suite.ts';
import { loadDocument } from './load-document.ts';

test('the pages of a document are counted from 0 in `page` and from 1 in `page_label`', async () => {
  const extractor = createSteppedExtractor();
  const deps = { extractor, loaderMetrics: { count: () => {} }, logger: createLogger('silent') };
  const file = { extension: 'pdf', bytes: 1, open: async function* () {} } as const;
  const name = { name: 'a.pdf', mimeType: undefined };
  const request = { ...name, ...file, projectId: 'p', keyId: 'k', requestId: 'r' };
  const loaded = loadDocument(deps, request, new AbortController().signal);
  const reading = await extractor.next();
  const [chunk] = [
    { ordinal: 0, content: 'text', question: null, answer: null, numTokens: 1, metadata: {}, words: '' },
  ];
  await reading.task.onBatch([1, 5].map((page) => ({ ...chunk, locator: { page } })));
  reading.end();
  assert.deepEqual(
    (await loaded).map(({ metadata: { page, page_label: label } }) => [page, label]),
    [
      [0, '1'],
      [4, '5'],
    ],
  );
});
