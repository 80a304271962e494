import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '../../../platform/log/logger.ts';
import { createSteppedExtractor } from '../../../stores/ingestion/testing/stepped-extractor.suite.ts';
import { loadDocument } from './load-document.ts';

test('the pages of a document are counted from 0 in `page` and from 1 in `page_label`', async () => {
  const extractor = createSteppedExtractor();
  const deps = { extractor, loaderMetrics: { count: () => {} }, logger: createLogger('silent') };
  const file = { name: 'a.pdf', mimeType: undefined, extension: 'pdf', bytes: 1, open: async function* () {} } as const;
  const request = { ...file, projectId: 'p', keyId: 'k', requestId: 'r' };
  const loaded = loadDocument(deps, request, new AbortController().signal);
  const reading = await extractor.next();
  const [chunk] = [
    { ordinal: 0, content: 'text', question: null, answer: null, numTokens: 1, metadata: {}, words: '' },
  ];
  await reading.task.onBatch([1, 5].map((page) => ({ ...chunk, locator: { page } })));
  reading.end();
  const pages = (await loaded).map(({ metadata: { page, page_label } }) => ({ page, page_label }));
  assert.deepEqual(pages, [
    { page: 0, page_label: '1' },
    { page: 4, page_label: '5' },
  ]);
});
