import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goodScore, goodScoreOf, matchScore } from '@quartermaster/contract';
import { isGoodMatch, marksOf } from './good-match.ts';

const foldedOf = (text: string) => text.toLowerCase().match(/\p{L}+/gu) ?? [];
const marks = (text: string) => marksOf(text, foldedOf(text));

test('the score of a match is the best one plus its lead, in any order', () => {
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
    isGoodMatch({ text, folded: foldedOf(text), scores: [score], texts: [found, 'Other.'], isByWords: false });
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

test('a number or name that only another result contains makes a match a little worse', () => {
  const text = 'What was the revenue of Acme in 2024?';
  const isGood = (texts: readonly string[], score: number) =>
    isGoodMatch({ text, folded: foldedOf(text), scores: [score], texts, isByWords: false });
  const [best, other] = ['Acme had a revenue of 5 million.', 'In 2024 the revenue rose.'];
  assert.deepEqual([isGood([best, other], 0.5), isGood([best, other], 0.6)], [false, true]);
  assert.deepEqual([isGood([best], 0.6), isGood([`${best} ${other}`], 0.5)], [false, true]);
});

test('words alone must match a short question better than a long one, and stop words count less', () => {
  assert.deepEqual(
    [1, 2.7, 3, 10].map((words) => goodScoreOf(words).toFixed(3)),
    ['0.650', '0.650', '0.630', '0.378'],
  );
  const isGood = (text: string, isByWords: boolean) =>
    isGoodMatch({ text, folded: foldedOf(text), scores: [0.5, 0.5], texts: [], isByWords });
  assert.equal(isGood('how did the war start', true), false);
  assert.equal(isGood('how did the war start', false), true);
  assert.equal(isGood('how did the long war between both northern kingdoms start', true), true);
  assert.equal(isGood('war start', true), true, 'key words look for any chunk that has them');
});

test('the only chunk that has a word of the question leads over nothing', () => {
  const text = 'When does the car park close?';
  const isGood = (scores: readonly number[], isByWords = true) =>
    isGoodMatch({ text, folded: foldedOf(text), scores, texts: [], isByWords });
  assert.deepEqual(
    [isGood([0.39]), isGood([0.39, 0.3]), isGood([0.14]), isGood([0.39], false)],
    [true, false, false, false],
  );
});
