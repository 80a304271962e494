import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TextSplitter } from '@quartermaster/contract';
import type { ExtractedChunk } from '../extraction.ts';
import type { ExtractionJob } from '../extraction-job.ts';
import { countTokens } from '../tokens.ts';
import { createChunks } from './create-chunks.ts';

const job: ExtractionJob = {
  kind: 'text',
  format: 'md',
  charset: null,
  splitter: null,
  chunkSize: null,
  title: '',
  fileName: null,
  maxChunks: 1000,
  onDuplicate: 'keep',
  columns: null,
  password: null,
  ocr: { kind: 'off' },
};

async function chunksOf(text: string, more: Partial<ExtractionJob> = {}): Promise<ExtractedChunk[]> {
  const chunks: ExtractedChunk[] = [];
  await createChunks({
    job: { ...job, ...more },
    bytes: Buffer.from(text),
    sink: { stage: () => {}, chunk: (chunk) => void chunks.push(chunk), reportedRow: () => undefined },
    report: { format: 'md', warnings: [], milliseconds: 0 },
    recognize: () => Promise.reject(new Error('no scan')),
  });
  return chunks;
}

test('the heading path is a field and adds nothing to content, num_tokens and char_start', async () => {
  const document = '# Zoo\n\nOpen daily.\n\n## Lions\n\nThey eat meat.\n';
  const [chunk, ...others] = await chunksOf(document);
  assert.equal(others.length, 0);
  assert.equal(chunk?.content, 'Zoo\n\nOpen daily.\n\nLions\n\nThey eat meat.');
  const [, second] = await chunksOf(`# Zoo\n\n${'Open daily. '.repeat(100)}\n\n## Lions\n\nThey eat meat.\n`);
  assert.deepEqual(second?.locator?.heading_path, ['Zoo', 'Lions']);
  assert.equal(second.content, 'Lions\n\nThey eat meat.');
  assert.equal(second.numTokens, countTokens(second.content));
  const { char_start: start = 0, char_end: end = 0 } = second.locator;
  assert.equal(end - start, second.content.length);
  const [, titled] = await chunksOf(`# Zoo\n\n${'Open daily. '.repeat(100)}\n\n## Lions\n\nThey eat meat.\n`, {
    title: 'Guide',
  });
  assert.equal(titled?.content, 'Guide\n\nLions\n\nThey eat meat.');
  assert.deepEqual(titled.locator, second.locator);
});

test('a splitter of the record counts tokens alike in every script', async () => {
  const words = 'Ночь улица фонарь аптека '.repeat(400).trim();
  const sizes = { chunk_size: 100, chunk_overlap: 20 };
  const splitters: TextSplitter[] = [
    { type: 'token', ...sizes },
    { type: 'separator', separators: ['\n\n'], ...sizes },
  ];
  for (const splitter of splitters) {
    const chunks = await chunksOf(words, { format: 'text', splitter });
    assert.equal(chunks.length, Math.ceil((countTokens(words) - 20) / (100 - 20)));
    for (const { numTokens, content } of chunks) {
      assert.ok(numTokens <= 100, String(numTokens));
      assert.equal(numTokens, countTokens(content));
    }
  }
  const [whole, ...rest] = await chunksOf(words.slice(0, 800), { format: 'text' });
  assert.equal(rest.length, 0, 'the default takes more tokens for Cyrillic letters');
  assert.ok((whole?.numTokens ?? 0) > 400, String(whole?.numTokens));
});
