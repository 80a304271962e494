import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { findPassage, lettersOf } from './find-passage.ts';

const simple = (text: string) =>
  lettersOf(
    Array.from(text, (character) => character.codePointAt(0) ?? 0),
    1e6,
  ).text;

/** Returns the letters of the pages that were found, in the order of the pages. */
function found(passage: string, pages: string): string {
  const letters = simple(pages);
  const marked = new Set(
    findPassage(simple(passage), letters).flatMap(({ start, length }) => Array.from({ length }, (_, at) => start + at)),
  );
  return [...letters].filter((_, at) => marked.has(at)).join('');
}

const word = fc.stringMatching(/^[a-z]{3,9}$/);
const sentence = fc.array(word, { minLength: 5, maxLength: 30 }).map((words) => words.join(' '));

test('a passage that stands on a page once is found completely, wherever it begins and ends', () => {
  fc.assert(
    fc.property(sentence, sentence, sentence, (before, passage, after) => {
      const pages = [before, passage, after].join('\n');
      // What stands twice may be found in either place.
      fc.pre(!simple(before + after).includes(simple(passage).slice(0, 12)));
      assert.equal(found(passage, pages), simple(passage));
    }),
  );
});

test('a passage is found although its lines were joined, its hyphens removed and its ligatures resolved', () => {
  const pages =
    'Header 12\nThe o\ufb03ce docu-\nments were \u2014 as\nagreed \u2014 stored in num-\nbered boxes.\nFooter';
  const passage = 'The office documents were - as agreed - stored in numbered boxes.';
  assert.equal(found(passage, pages), simple(passage));
});

test('the columns and notes of a passage may be in another order than on the page', () => {
  const left = ['Foxes sleep in dens', 'below the oldest trees', 'of a quiet forest.'];
  const right = ['Bears sleep in caves', 'from November until', 'the snow has gone.'];
  const acrossThePage = left.map((line, at) => `${line} ${right[at]}`).join('\n');
  // The first letter of the next line may be taken from the line beside it.
  const letters = found([...left, ...right].join(' '), acrossThePage);
  assert.ok(letters.length >= simple(acrossThePage).length - left.length - right.length, letters);
});

test('signs of Chinese and letters of Arabic are found without blanks between words', () => {
  for (const passage of [
    '狐狸在森林里的洞穴中睡觉，整个冬天都不出来。',
    'تنام الثعالب في أوكارها طوال فصل الشتاء البارد',
  ]) {
    const pages = `第一页 ١٢ 其他文字在这里出现过\n${passage.slice(0, 11)}\n${passage.slice(11)}\nمرحبا`;
    assert.equal(found(passage, pages), simple(passage));
  }
});

test('a repeated heading is marked where the passage goes on, not at its first occurrence', () => {
  const pages = 'Care of foxes ... 3\nCare of bears ... 9\nCare of foxes\nThey need a den and some mice.';
  const runs = findPassage(simple('Care of foxes\nThey need a den and some mice.'), simple(pages));
  assert.deepEqual(runs, [{ start: simple('Care of foxes 3 Care of bears 9').length, length: 34 }]);
});

test('short pieces that stand on the page by chance are not marked', () => {
  assert.equal(found('Nothing of this is there at all.', 'this is the page of there and that'), '');
  assert.equal(found('', 'page'), '');
  assert.equal(found('12.5', 'Price 12.5'), '125');
});

test('many repeated letters take no quadratic time', () => {
  const letters = 'a'.repeat(200_000);
  const started = process.cpuUsage();
  assert.equal(findPassage(letters, letters).length, 1);
  assert.equal(found('ab'.repeat(50_000), 'ba'.repeat(100_000)).length > 0, true);
  const { user } = process.cpuUsage(started);
  assert.ok(user < 5_000_000, `${user} µs`);
});
