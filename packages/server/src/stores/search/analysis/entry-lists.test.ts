import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isListOfEntries } from './field-terms.ts';

const lines = (...all: string[]) => all.join('\n');

test('a table of contents is a list of entries by its leaders, or by its sections and rising page numbers', () => {
  const leaders = ['Preface ........ iv', 'Tea … 3', 'Coffee. . . . . . 12', 'Water ······ 20', 'Index ..... 31'];
  assert.equal(isListOfEntries(leaders.map((line) => line.replace('iv', '4')).join('\n')), true);
  assert.equal(
    isListOfEntries(lines('1 Tea 3', '1.1 Green tea 4', '1.2 Black tea | 9', '2 Coffee 12', '3 Water 20')),
    true,
  );
  assert.equal(
    isListOfEntries(lines('1 Tea 20', '2 Milk 4', '3 Rice 19', '4 Coffee 2', '5 Water 1')),
    false,
    'amounts',
  );
});

test('an outline is a list of entries by its section numbers, and numbered lines of a program are not', () => {
  const outline = ['1. Tea', ...Array.from({ length: 9 }, (_, at) => `- 1.${at + 1}. Kind number ${at + 1}`)];
  assert.equal(isListOfEntries(outline.join('\n')), true);
  assert.equal(isListOfEntries(Array.from({ length: 12 }, (_, at) => `${at + 1} print(${at})`).join('\n')), false);
});

test('references are a list of entries by their labels and years', () => {
  const references =
    '[1] Ito. Tea. 1999. | [2] Sen. Cups. 2004 | 3. Rao (2011) Milk | [4] Lee, 2020. | continued'.split(' | ');
  assert.equal(isListOfEntries(references.join('\n')), true);
  const events = ['In 1999 tea came.', 'Cups followed in 2004.', 'In 2011, milk.', 'Sugar: 2020.', 'The end.'];
  assert.equal(isListOfEntries(events.join('\n')), false);
});

test('prose, tables and short lists are no lists of entries', () => {
  assert.equal(isListOfEntries('Tea is served at four.\n'.repeat(20)), false);
  assert.equal(
    isListOfEntries(lines('Year | Tea', '2019 | 10', '2020 | 12', '2021 | 15', '2022 | 18', '2023 | 21')),
    false,
  );
  assert.equal(isListOfEntries(lines('1. Boil water.', '2. Add tea.', '3. Wait 4', '4. Pour.', '5. Drink.')), false);
  assert.equal(isListOfEntries(lines('Tea ... 3', 'Coffee ... 12')), false);
});
