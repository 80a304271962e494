import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { zipSync } from 'fflate';

/** A pair in the sheets of the benches: 26 words, about 150 bytes. */
export type Pair = readonly [question: string, answer: string];

/** The words of our documentation: English prose with names and numbers. */
const words = readdirSync('docs', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.md'))
  .sort()
  .flatMap((path) => readFileSync(join('docs', path), 'utf8').match(/[\p{L}\p{N}'-]+/gu) ?? []);

/** The numbers of words in the two parts of a pair. */
export interface PairLengths {
  readonly question: number;
  readonly answer: number;
}
const short: PairLengths = { question: 7, answer: 18 };

/** Yields the same pairs in every run. */
export function* pairs(count: number, { question, answer } = short): Generator<Pair> {
  const random = createRandom();
  const some = (most: number) => {
    const from = Math.floor(random() * (words.length - most));
    return words.slice(from, from + most).join(' ');
  };
  for (let n = 0; n < count; n++) yield [`${some(question)} ${n}?`, `${some(answer)}.`];
}

export function* csv(count: number): Generator<string> {
  yield 'question,answer\n';
  for (const [question, answer] of pairs(count)) yield `${question},${answer}\n`;
}

/** Writes a workbook with inline strings, like about half of the workbooks that programs write. */
export function xlsx(count: number): Uint8Array {
  const cell = (at: string, text: string) => `<c r="${at}" t="inlineStr"><is><t>${text}</t></is></c>`;
  const row = (n: number, [question, answer]: Pair) =>
    `<row r="${n}">${cell(`A${n}`, question)}${cell(`B${n}`, answer)}</row>`;
  const rows = [row(1, ['question', 'answer'])];
  for (const pair of pairs(count)) rows.push(row(rows.length + 1, pair));
  const type = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet';
  const parts = {
    '[Content_Types].xml':
      '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>',
    'xl/workbook.xml':
      '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="Pairs" sheetId="1" r:id="r1"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="${type}" Target="worksheets/sheet1.xml"/></Relationships>`,
    'xl/worksheets/sheet1.xml': `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>${rows.join('')}</sheetData></worksheet>`,
  };
  return zipSync(Object.fromEntries(Object.entries(parts).map(([path, text]) => [path, Buffer.from(text)])));
}

/** mulberry32: a small generator with the same numbers on every machine. */
function createRandom(): () => number {
  let state = 1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
