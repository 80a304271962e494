import assert from 'node:assert/strict';
import { test } from 'node:test';
import { letters } from '../../../../../../../test/support/sample-texts.ts';
import { layOut } from '../../document.ts';
import type { Ocr } from '../../ocr/recognition.ts';
import { unmappedPdf } from '../testing/unmapped-pdf.fixture.ts';
import { isGarbled } from './garbled-text.ts';
import { readPdf } from './read-pdf.ts';

const lines = [
  'The library of the town lends books for four weeks.',
  'A reader may borrow twelve volumes and renew each loan twice.',
  'Maps and newspapers stay in the reading room on the second floor.',
  'Whoever returns a book late pays ten cents for each day.',
];
const sentences = lines.join(' ');

/** Numbers the letters in the order of their first use, from a code. */
function numbered(text: string, first: number): string {
  const known = [...new Set(text)];
  return [...text].map((letter) => String.fromCharCode(first + known.indexOf(letter))).join('');
}

test('numbers of glyphs are no language, wherever they begin', () => {
  for (const first of [0x21, 0x28, 0x41, 0x46, 0x61, 0xa1, 0xe000])
    assert.ok(isGarbled(numbered(sentences, first)), `${first}: ${numbered(sentences, first)}`);
  assert.ok(isGarbled([...sentences].map((letter) => `${numbered(letter, 0x61)} `).join('')));
});

test('texts in all languages, tables, code and contents are language', () => {
  for (const { text } of letters) assert.ok(!isGarbled(text.repeat(2)), text);
  const table = Array.from({ length: 40 }, (_, at) => `Q${at} | ${at * 7}.5 % | (${at}) | –`).join('\n');
  const contents = Array.from({ length: 40 }, (_, at) => `${at}.1 Loans . . . . . . . . . . . ...... ${at}`).join('\n');
  const code = 'if (value !== undefined && values[0]?.name === "a") { return { ...values, b: [1, 2] }; }\n'.repeat(5);
  const xml = '<row id="1"><cell type="text">Reader</cell><cell>Loan</cell></row>\n'.repeat(5);
  for (const text of [sentences, sentences.toUpperCase(), table, contents, code, xml])
    assert.ok(!isGarbled(text), text);
  assert.ok(!isGarbled('!"#$%&'), 'too short to tell');
});

/** Answers with the words of a text, as tesseract does. */
function ocrOf(text: string): Ocr {
  const rows = text.split(' ').map((word, at) => ['5', 1, 1, 1, 1, at, 9 * at, 9, 8, 8, 95, word].join('\t'));
  return {
    job: { kind: 'on', engine: 'test', languages: ['eng'], maxPixels: 25_000_000, maxPages: 5 },
    recognize: async () => ({ kind: 'read', tsv: rows.join('\n'), seconds: 0 }),
  };
}

test('a page whose text is no language is read by OCR, and keeps its text with a warning otherwise', async () => {
  const page = unmappedPdf(lines);
  const read = await readPdf(page, { ocr: ocrOf(sentences) });
  assert.deepEqual([layOut(read).text, read.warnings], [sentences, []]);
  assert.deepEqual(read.facts.ocr?.pages, [[1, 1]]);
  const signs = layOut(await readPdf(page)).text;
  assert.ok(signs.startsWith('!"#'), signs);
  for (const ocr of [undefined, ocrOf(numbered(sentences, 0x21))]) {
    const { warnings, ...document } = await readPdf(page, { ocr });
    assert.equal(layOut({ ...document, warnings }).text, signs);
    assert.match(warnings.join(), /^text_garbled: .* Pages 1\.$/);
  }
});
