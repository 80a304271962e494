import papaparse from 'papaparse';
import { decodeText } from './decode-text.ts';
import { findPairColumns } from './pairs.ts';
import type { SheetRow, Workbook } from './sheet.ts';

const delimiters = [',', ';', '\t', '|'] as const;

/** One sheet without a name. A first line `sep=;` sets the delimiter, as in Excel. */
export function readCsv(bytes: Uint8Array, charset?: string): Workbook {
  const { text, encoding } = decodeText(bytes, [charset]);
  const declared = /^"?sep=(.)"?\n/.exec(text);
  const skipped = declared?.[0].length ?? 0;
  const body = text.slice(skipped);
  const delimiter = declared?.[1] ?? findDelimiter(body);
  const { rows, warnings } = parse(body, { delimiter, firstLine: skipped === 0 ? 1 : 2 });
  return { sheets: [{ name: null, rows }], facts: { encoding }, warnings };
}

/** The delimiter that makes a header of the first record; a comma when none does. */
function findDelimiter(text: string): string {
  const found = delimiters.find((delimiter) => {
    const { data } = papaparse.parse<string[]>(text, {
      delimiter,
      newline: '\n',
      preview: 1,
      skipEmptyLines: 'greedy',
    });
    return data[0] !== undefined && findPairColumns(data[0]) !== null;
  });
  return found ?? ',';
}

function parse(text: string, { delimiter, firstLine }: { delimiter: string; firstLine: number }) {
  const rows: SheetRow[] = [];
  const warnings: string[] = [];
  let line = firstLine;
  let start = 0;
  papaparse.parse<string[]>(text, {
    delimiter,
    newline: '\n',
    step: ({ data, errors, meta }) => {
      const broken = errors.find((error) => error.type === 'Quotes');
      if (broken !== undefined && warnings.length < 20) warnings.push(`Line ${line}: ${broken.message}.`);
      rows.push({ row: line, cells: data });
      line += countLines(text, start, meta.cursor);
      start = meta.cursor;
    },
  });
  return { rows, warnings };
}

function countLines(text: string, start: number, end: number): number {
  let lines = 0;
  for (let at = text.indexOf('\n', start); at !== -1 && at < end; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}
