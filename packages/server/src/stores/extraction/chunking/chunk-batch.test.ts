import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { contentOfPair, type ExtractedChunk } from '../extraction.ts';
import { encodeMessage, parseFromChild } from '../worker/protocol.ts';
import { batchLimits, checkBatch, createChunkBuffer } from './chunk-batch.ts';

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('été', '\ud83d', '\ude00', 'a\0b', '\u0081', '__proto__'),
);
const names = fc.dictionary(text, text, { maxKeys: 3, noNullPrototype: true });
const row = fc.record({ question: fc.option(text), content: text, words: text, metadata: names, key: fc.option(text) });

interface Row {
  readonly question: string | null;
  readonly content: string;
  readonly words: string;
  readonly metadata: Record<string, string>;
  readonly key: string | null;
}

function toChunk({ question, content, words, metadata, key }: Row, ordinal: number): ExtractedChunk {
  const pair = question === null ? { content, question, answer: null } : pairOf(question, content);
  const locator = ordinal % 2 === 0 ? null : { row: ordinal, heading_path: [words.slice(0, 200)] };
  const boxes = ordinal % 3 === 0 ? {} : { boxes: [[ordinal, 1.5, 2, 300, 8.1]] as const };
  return {
    ordinal,
    ...pair,
    numTokens: 3,
    words,
    metadata,
    locator,
    ...boxes,
    ...(key === null ? {} : { rowKey: key }),
  };
}

function pairOf(question: string, answer: string) {
  return { content: contentOfPair(question, answer), question, answer };
}

function ofWords(characters: number, ordinal: number): ExtractedChunk {
  const words = 'x'.repeat(characters);
  return toChunk({ question: null, content: '', words, metadata: {}, key: null }, ordinal);
}

/** Returns the value as a database stores it. */
function stored<Value>(value: Value): Value {
  if (typeof value === 'string') return value.replaceAll('\0', '\ufffd').toWellFormed() as Value; // a string
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(stored) as Value; // the same type
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [stored(name), stored(each)])) as Value; // the same type
}

/** Returns the chunks as the server parses them. */
function sent(chunks: readonly ExtractedChunk[]): unknown {
  const message = parseFromChild(Buffer.from(encodeMessage({ type: 'chunks', chunks })));
  return message.type === 'chunks' ? message.chunks : undefined;
}

test('a batch arrives unchanged, with texts that a database can store', () => {
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 20 }), (rows) => {
      const chunks = rows.map(toChunk);
      assert.deepEqual(sent(chunks), chunks.map(stored));
    }),
  );
});

test('batches contain every chunk once, in order, within the limits; a chunk that exceeds them is a batch of its own', () => {
  const lengths = fc.array(fc.oneof(fc.nat(3_000), fc.constant(batchLimits.words + 1)), { maxLength: 1_200 });
  fc.assert(
    fc.property(lengths, (items) => {
      const buffer = createChunkBuffer();
      const batches = [];
      for (const [ordinal, length] of items.entries()) {
        const chunk = ofWords(length, ordinal);
        if (buffer.add(chunk)) continue;
        batches.push(buffer.take());
        assert.ok(buffer.add(chunk));
      }
      batches.push(buffer.take());
      assert.deepEqual(buffer.take(), []);
      assert.deepEqual(
        batches.flat().map(({ ordinal, words }) => [ordinal, words.length]),
        items.map((length, ordinal) => [ordinal, length]),
      );
      for (const batch of batches) if (batch.length > 0) assert.equal(checkBatch(batch).length, batch.length);
    }),
    { numRuns: 20 },
  );
});

test('a batch that is too large for one transaction is refused', () => {
  const { words, chunks, characters } = batchLimits;
  assert.equal(checkBatch([ofWords(words + 1, 0)]).length, 1);
  assert.equal(checkBatch([ofWords(words / 2, 0), ofWords(words / 2, 1)]).length, 2);
  assert.throws(() => checkBatch([ofWords(words / 2, 0), ofWords(words / 2 + 1, 1)]), TypeError);
  const long = { ...ofWords(1, 0), content: 'x'.repeat(characters) };
  assert.equal(checkBatch([long]).length, 1);
  assert.throws(() => checkBatch([long, ofWords(1, 1)]), TypeError);
  const many = Array.from({ length: chunks + 1 }, (_, ordinal) => ofWords(1, ordinal));
  assert.equal(checkBatch(many.slice(1)).length, chunks);
  assert.throws(() => checkBatch(many), TypeError);
});

test('a batch with a field value that no reader sends is refused', () => {
  const chunk = toChunk({ question: 'q', content: 'a', words: 'q\u00811', metadata: { a: 'b' }, key: 'k' }, 1);
  assert.deepEqual(checkBatch([chunk]), [chunk]);
  for (const [name, values] of Object.entries({
    ordinal: [-1, 0.5, '1', null],
    numTokens: [-1, Number.NaN, '1'],
    content: ['other', 1, null],
    question: [null, 1, 'other'],
    answer: [null, 1, 'other'],
    words: [null, 1],
    metadata: [null, [], { a: 1 }, { a: ['b'] }],
    locator: ['here', [], { row: {} }, { row: 0.5 }, { heading_path: [1] }],
    boxes: [null, [], [[]], [[1, 2, 3, 4]], [[0.5, 1, 1, 1, 1]], [[1, 1, 1, 1, '1']], [[1, 1, 1, 1, null]]],
    rowKey: [null, 1],
  })) {
    for (const value of values) {
      const forged = [{ ...chunk, [name]: value }];
      assert.throws(() => checkBatch(forged), TypeError, `${name}: ${JSON.stringify(value)}`);
    }
  }
  for (const wrong of [undefined, null, {}, 'x', [], [null], [[]], [chunk, chunk]]) {
    assert.throws(() => checkBatch(wrong), TypeError);
  }
  assert.deepEqual(checkBatch([{ ...chunk, more: 1 }]), [chunk]);
});

test('a chunk has at most 2,000 boxes', () => {
  const chunk = ofWords(1, 1);
  const boxes = Array.from({ length: batchLimits.boxes }, () => [1, 0, 0, 9, 9] as const);
  assert.equal(checkBatch([{ ...chunk, boxes }])[0]?.boxes?.length, 2_000);
  assert.throws(() => checkBatch([{ ...chunk, boxes: [...boxes, [1, 0, 0, 9, 9]] }]), TypeError);
});

test('an escaped metadata name is parsed correctly after one that is a backslash', () => {
  // V8 then reads every second name of similar objects with an escape for a backslash, unless it has met another one.
  JSON.parse(String.raw`{"first":[],"\\":0}`);
  // An object without a prototype, so that V8 does not meet its names here.
  const metadata: Record<string, string> = Object.create(null);
  metadata.first = 'x';
  metadata['\ude00'] = 'y';
  const chunk = toChunk({ question: null, content: 'x', words: 'x', key: null, metadata }, 0);
  assert.deepEqual(sent([chunk]), [{ ...chunk, metadata: { first: 'x', '\ufffd': 'y' } }]);
});
