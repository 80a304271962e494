import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ExtractedChunk } from '../extraction/extraction.ts';
import { countStoredBytes, StoredTooMuch, storedLimits } from './stored-bytes.ts';
import { openSteps } from './testing/stepped-service.suite.ts';

const source = (bytes: number) => ({ kind: 'file', extension: 'md', bytes, open: async function* () {} }) as const;

function chunkOf(content: string, more: Partial<ExtractedChunk> = {}): ExtractedChunk {
  const texts = { content, question: null, answer: null, words: '', metadata: {} };
  return { ordinal: 0, numTokens: 1, locator: null, ...texts, ...more };
}

test('the limit record_stored_bytes admits a record at its bound and refuses one byte more', () => {
  // The locator, metadata and boxes of the chunk take `[null,{}]` and `[]`.
  const words = 'x'.repeat(storedLimits.bytes + 8 * storedLimits.bytesPerCharacter - 8 - 9 - 2);
  countStoredBytes(source(1)).add([chunkOf('12345678', { words })], []);
  assert.throws(
    () => countStoredBytes(source(1)).add([chunkOf('12345678', { words: `${words}x` })], []),
    StoredTooMuch,
  );
});

test('text counts once where chunks overlap, and as much as the source can hold', () => {
  const text = '12345678'.repeat(100);
  const overlapping = Array.from({ length: 3 }, () => chunkOf(text, { locator: { char_start: 0, char_end: 800 } }));
  const room = storedLimits.bytes + 800 * storedLimits.bytesPerCharacter;
  const words = 'x'.repeat(room);
  for (const bytes of [100, 1_000_000]) {
    const counted = countStoredBytes(source(bytes));
    counted.add(overlapping, []);
    assert.throws(() => counted.add([chunkOf('', { words })], []), StoredTooMuch);
  }
  const counted = countStoredBytes(source(1_000_000));
  counted.add([...overlapping, chunkOf(text, { locator: { char_start: 800, char_end: 1_600 } })], []);
  counted.add([chunkOf('', { words, locator: { char_start: 1_600, char_end: 1_600 } })], []);
});

test('rows that were rejected count as well', () => {
  const question = 'q'.repeat(1_000_000);
  const fields = { question, answer: '', metadata: {} };
  const row = { sheet: null, row: 2, column: null, code: 'empty_answer', excerpt: '', fields } as const;
  const counted = countStoredBytes(source(10));
  assert.throws(() => {
    for (let at = 0; at < 70; at += 1) counted.add([], [row]);
  }, StoredTooMuch);
});

test('a record that would store too much ends in storage_limit and stores nothing', async (t) => {
  const steps = await openSteps(t);
  const id = await steps.create();
  const reading = await steps.extractor.next();
  await assert.rejects(reading.give('x'.repeat(40_000_000)));
  await steps.settle(id);
  const { status, error } = await steps.get(id);
  assert.deepEqual([status, error.code], ['error', 'storage_limit']);
  assert.match(error.message, /chunk/);
  assert.deepEqual(await steps.contents(), []);
});

test('a record that exceeds the quota of its project ends in quota_exceeded, and one within the quota does not', async (t) => {
  const steps = await openSteps(t, { maxProjectBytes: 1_000 });
  for (const [length, expected] of [
    [2_000, 'error'],
    [100, 'ready'],
  ] as const) {
    const id = await steps.create();
    const reading = await steps.extractor.next();
    await reading.give('x'.repeat(length)).catch(() => {});
    reading.end();
    await steps.settle(id);
    const { status, error } = await steps.get(id);
    assert.deepEqual([status, error?.code ?? null], [expected, expected === 'error' ? 'quota_exceeded' : null]);
  }
});
