import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goodScore, matchScore } from '@quartermaster/contract';
import { isGoodMatch, marksOf } from './good-match.ts';

const foldedOf = (text: string) => text.toLowerCase().match(/\p{L}+/gu) ?? [];
const marks = (text: string) => marksOf(text, foldedOf(text));

test('the score of a match is the best one and a share of its lead, in any order', () => {
  assert.equal(matchScore([]), 0);
  assert.equal(matchScore([0.3]), 0.3);
  assert.equal(matchScore([0.3, 0.3, 0.1]), 0.3);
  const scores = [0.4, 0.2, 0.1];
  assert.ok(matchScore(scores) > 0.4);
  for (const order of [
    [0, 1, 2],
    [2, 0, 1],
    [1, 2, 0],
  ])
    assert.equal(matchScore(order.map((at) => scores[at] ?? 0)), matchScore(scores));
});

test('the numbers and names of a question are found, but not words that begin a sentence', () => {
  assert.deepEqual(marks('What was the revenue of Acme in 2019?'), ['2019', 'acme']);
  assert.deepEqual(marks('And then? When did Wolverhampton play?'), ['wolverhampt']);
  assert.deepEqual(marks('¿Cuándo nació Juan Martínez en Perú?'), ['juan', 'martín', 'perú']);
  assert.deepEqual(marks('Wann kam die Versicherung nach Berlin, 1999 oder später?'), ['1999']);
  assert.deepEqual(marks('What Is The Capital Of France'), []);
  assert.deepEqual(marks('2015年黑豹队的防守'), ['2015']);
});

test('a number or name that no result contains makes a match worse, and an inflected name is found', () => {
  const isGood = (text: string, found: string, score: number = goodScore) =>
    isGoodMatch({ text, folded: foldedOf(text), scores: [score], texts: ['Other.', found] });
  const report = 'In 2024 ACME had a revenue of 5 million.';
  assert.equal(isGood('What was the revenue of Acme in 2024?', report), true);
  assert.equal(isGood('What was the revenue of Acme in 2019?', report), false);
  assert.equal(isGood('What was the revenue of Globex in 2024?', report), false);
  assert.equal(isGood('Что известно об Обломове?', 'Обломова не было дома.'), true);
  const manual = 'Error E42: the lid is open. The machine costs 120 euros.';
  assert.equal(isGood('What does error E44 mean?', manual, 0.6), false);
  assert.equal(isGood('What does error E42 mean?', manual, 0.6), true);
  assert.equal(isGood('What was the revenue of Acme in 2019?', report, 0.9), true, 'the rest matches almost entirely');
  assert.equal(isGood('What was the revenue of Acme in 2024?', report, goodScore - 0.01), false);
});
