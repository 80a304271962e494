import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readableJson } from './readable-json.ts';

test('JSON is read with U+FFFD for each U+0000 and each half of a surrogate pair', () => {
  const characters = fc.constantFrom(...'\0 \\ " u 0000 ud800 \ud800 \udfff 😀 \n \u0001 é'.split(' '));
  const text = fc.array(characters, { maxLength: 12 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.dictionary(text, text), (metadata) => {
      const expected = Object.entries(metadata).map((entry) => entry.map(readable));
      assert.deepEqual(Object.entries(JSON.parse(readableJson(JSON.stringify(metadata)))), [
        ...new Map(expected as Array<[string, string]>),
      ]);
    }),
  );
});

const readable = (text: string) => text.toWellFormed().replaceAll('\0', '\ufffd');
