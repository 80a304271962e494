import assert from 'node:assert/strict';
import { test } from 'node:test';
import { workbook } from '../../../../../../test/support/sample-office.ts';
import { layOut } from '../document.ts';
import { readSheets } from './read-sheets.ts';

test('each visible sheet is a table below its name, and a warning names what is hidden', async () => {
  const sheets = [
    {
      name: 'Animals',
      rows: [
        ['name', 'legs'],
        ['fox', '4'],
        ['', ''],
        ['two\nlines', ''],
      ],
    },
    { name: 'Old', isHidden: true, rows: [['secret']] },
    { name: 'Empty', rows: [] },
    { name: 'Plants', rows: [['fern']] },
  ];
  const document = await readSheets('xlsx', workbook(sheets));
  const { text, locate } = layOut(document);
  assert.equal(text, 'Animals\n\nname | legs\nfox | 4\ntwo lines\n\nPlants\n\nfern');
  const at = text.indexOf('fern');
  assert.deepEqual(locate(at, at + 4), { sheet: 'Plants', heading_path: ['Plants'], char_start: at, char_end: at + 4 });
  assert.deepEqual(document.warnings, ['hidden_sheets: These sheets are hidden and were not read: "Old".']);
});
