import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readWords } from '../../stores/search/segments/index-words.ts';
import { createSegmentBuilder } from '../../stores/search/segments/segment-builder.ts';
import { createRandom } from './testing/full-text-corpus.suite.ts';

/** Words of all forms, with marks and digits in places where they are no frequencies. */
const parts = [
  ...['red', 'red', 'blue', 'a', '世界', 'é', '😀', 'c++', '5', '007', 'x'.repeat(128), '世'.repeat(42)],
  ...['red\u00812', 'blue\u0081255', 'a\u0081256', 'a\u0081999999999', 'a\u00811234567890', '\u00815', 'a\u0081'],
  ...['a\u00810', 'a\u008105', 'a\u0081x', 'a\u00811\u00812', '\u0081', '', '\ue000', '\uffff', '\u{10000}'],
];
const changed = ['x'.repeat(129), '世'.repeat(43), 'a\0b', '\ud800', `${'x'.repeat(130)}\u00812`];

test('a segment that is built from texts has the same bytes as one that is built from parsed words', () => {
  const random = createRandom(3);
  const pick = (from: readonly string[]) => from[Math.floor(random() * from.length)] ?? '';
  let texts = 0;
  for (let round = 0; round < 60; round++) {
    const fast = createSegmentBuilder();
    const slow = createSegmentBuilder();
    for (let seq = 1; seq <= 100; seq++) {
      const vocabulary = round % 2 === 0 ? parts : Array.from({ length: 3000 }, (_, n) => `w${n}`);
      const words = Array.from({ length: Math.floor(random() * 60) }, () => pick(vocabulary)).join(' ');
      const { counts, length } = readWords(words);
      slow.add({ seq, terms: counts, length });
      assert.ok(fast.addWords({ seq, words }), JSON.stringify(words));
      texts++;
    }
    assert.deepEqual(fast.build(), slow.build());
  }
  assert.equal(texts, 6000);
});

test('a text with a word that must be changed adds nothing', () => {
  const builder = createSegmentBuilder();
  for (const word of changed)
    assert.equal(builder.addWords({ seq: 1, words: `red ${word} blue` }), false, JSON.stringify(word));
  assert.ok(builder.addWords({ seq: 1, words: 'green' }));
  const only = createSegmentBuilder();
  only.addWords({ seq: 1, words: 'green' });
  assert.deepEqual(builder.build(), only.build());
});
