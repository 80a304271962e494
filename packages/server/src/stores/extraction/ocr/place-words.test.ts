import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layOut } from '../document.ts';
import { createLineJoiner } from '../formats/pdf/join-lines.ts';
import { boxesBetween, placeWords, type ScannedWord } from './place-words.ts';

/** Lines of words, each ten points wide and eight high, with their paragraph. */
function paragraphOf(lines: readonly string[]) {
  const words = lines.flatMap((line, at) =>
    line.split(' ').map((text, place): ScannedWord => ({ text, line: at, box: [place * 12, at * 10, 10, 8] })),
  );
  const text = createLineJoiner(lines).join(lines.map((line) => ({ text: line, hyphen: false })));
  return { text, words };
}

test('words are found in the text that was joined from their lines, also where a hyphen was removed', () => {
  const { text, words } = paragraphOf(['The compu-', 'ter and the com-', 'puter are well-known: a computer']);
  assert.equal(text, 'The computer and the computer are well-known: a computer');
  const placed = placeWords(text, words);
  assert.deepEqual(
    placed.map(({ start, end }) => text.slice(start, end)),
    ['The', 'compu', 'ter', 'and', 'the', 'com', 'puter', 'are', 'well-known:', 'a', 'computer'],
  );
});

test('Chinese words are found, although no blanks separate them', () => {
  const words = ['软件', '包', '的', '维护'].map((text, at): ScannedWord => ({ text, line: 0, box: [at, 0, 1, 1] }));
  assert.deepEqual(
    placeWords('软件包的维护', words).map(({ start, end }) => [start, end]),
    [
      [0, 2],
      [2, 3],
      [3, 4],
      [4, 6],
    ],
  );
});

test('a passage has one box for each line, around its own words alone', () => {
  const { text, words } = paragraphOf(['One two three', 'four five', 'six']);
  const placed = placeWords(text, words);
  const boxesOf = (passage: string) => {
    const start = 100 + text.indexOf(passage);
    return boxesBetween(placed, { start, end: start + passage.length, offset: 100 });
  };
  assert.deepEqual(boxesOf('two three four'), [
    [12, 0, 22, 8],
    [0, 10, 10, 8],
  ]);
  assert.deepEqual(boxesOf('six'), [[0, 20, 10, 8]]);
  assert.deepEqual(boxesBetween(placed, { start: 0, end: 100, offset: 100 }), []);
});

test('the boxes of a passage name the page of each block, and texts that OCR has not read have none', () => {
  const { text, words } = paragraphOf(['One two']);
  const block = { kind: 'paragraph', text, words } as const;
  const document = layOut({
    blocks: [
      { ...block, page: 3 },
      { kind: 'paragraph', text: 'A stamp.', page: 3 },
      { ...block, page: 4 },
    ],
    facts: {},
    warnings: [],
  });
  assert.equal(document.text, 'One two\n\nA stamp.\n\nOne two');
  assert.deepEqual(document.boxesOf(4, document.text.length), [
    [3, 12, 0, 10, 8],
    [4, 0, 0, 22, 8],
  ]);
  assert.deepEqual(document.boxesOf(9, 17), []);
});
