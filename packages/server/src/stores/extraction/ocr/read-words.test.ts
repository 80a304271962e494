import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readWords } from './read-words.ts';

const row = (place: string, box: string, confidence: number, text: string) =>
  `5\t1\t${place.replaceAll(' ', '\t')}\t${box.replaceAll(' ', '\t')}\t${confidence}\t${text}`;

test('the table of words becomes lines and paragraphs of words with boxes, and a confidence weighted by characters', () => {
  const page = readWords(
    [
      'level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext',
      '4\t1\t1\t1\t1\t0\t10\t10\t90\t12\t-1\t',
      row('1 1 1 1', '10 10 40 12', 90, 'Books'),
      row('1 1 1 2', '60 8 30 14', 60, 'are'),
      row('1 1 2 1', '10 30 40 12', 90, 'lent'),
      row('1 2 1 1', '10 60 40 12', 90, '\u200eHere\u200f'),
      row('1 2 1 2', '10 60 40 12', 95, '  '),
    ].join('\n'),
  );
  assert.deepEqual(page.paragraphs, [
    [
      {
        text: 'Books are',
        words: [
          { text: 'Books', box: [10, 10, 40, 12], confidence: 90 },
          { text: 'are', box: [60, 8, 30, 14], confidence: 60 },
        ],
      },
      { text: 'lent', words: [{ text: 'lent', box: [10, 30, 40, 12], confidence: 90 }] },
    ],
    [{ text: 'Here', words: [{ text: 'Here', box: [10, 60, 40, 12], confidence: 90 }] }],
  ]);
  assert.equal(page.words, 4);
  assert.equal(page.confidence, (5 * 90 + 3 * 60 + 4 * 90 + 4 * 90) / 16);
});

test('Chinese words are joined without blanks', () => {
  const words = ['软件', '包', 'dpkg', '的', '维护'];
  const { paragraphs } = readWords(words.map((text, at) => row(`1 1 1 ${at + 1}`, '0 0 9 9', 90, text)).join('\n'));
  assert.equal(paragraphs[0]?.[0]?.text, '软件包 dpkg 的维护');
});

test('a page without words has the confidence 0, and rows that are no words are ignored', () => {
  assert.deepEqual(readWords('level\tx\n5\n\n1\t1\t0\n'), { paragraphs: [], confidence: 0, words: 0 });
});
