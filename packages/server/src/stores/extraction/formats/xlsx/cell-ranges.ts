import { encodingOf } from './xml-events.ts';

/** Rows and columns that a reference such as `B2:C9` names. Rows count from 1, columns from 0. */
export interface CellRange {
  readonly firstRow: number;
  readonly lastRow: number;
  readonly firstColumn: number;
  readonly lastColumn: number;
}

/** Returns what follows the rows of a sheet. */
export function readTail(part: Uint8Array): string {
  const encoding = encodingOf(part);
  const bytes = Buffer.from(part.buffer, part.byteOffset, part.length);
  const closing = encoding.startsWith('utf-16') ? 0 : bytes.lastIndexOf('</sheetData>');
  const start = closing === -1 ? bytes.indexOf('mergeCells') : closing;
  return start === -1 ? '' : new TextDecoder(encoding).decode(bytes.subarray(start));
}

/** @returns undefined for no reference */
export function rangeOf(reference: string): CellRange | undefined {
  const [from = '', to = from] = reference.split(':', 2);
  const [firstRow, lastRow] = [rowOf(from), rowOf(to)];
  if (firstRow === 0 || lastRow === 0) return undefined;
  return { firstRow, lastRow, firstColumn: columnOf(from), lastColumn: columnOf(to) };
}

/** The column of a reference such as `AB12`, from 0. */
export function columnOf(reference: string): number {
  let column = 0;
  for (const character of reference) {
    const letter = character.toUpperCase().charCodeAt(0) - 64;
    if (letter < 1 || letter > 26) break;
    column = Math.min(column * 26 + letter, 1_000_000);
  }
  return Math.max(0, column - 1);
}

/** The row number of a reference such as `AB12`, counted from 1; 0 when it has none. */
function rowOf(reference: string): number {
  let start = reference.length;
  while (isDigit(reference.charCodeAt(start - 1))) start -= 1;
  return Number(reference.slice(start));
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** Sheets with more ranges count as painted everywhere. */
const mostRanges = 200;

/** Whether a rule, a table or a picture behind the sheet may give a cell another colour than its own style. */
export type IsPainted = (row: number, column: number) => boolean;

/** @param tables the parts of the tables and pivot tables of the sheet, which look as their own styles say */
export function createPainted(part: Uint8Array, tables: readonly Uint8Array[]): IsPainted {
  const tail = readTail(part);
  // A tag contains no `<`, so no byte belongs to two candidates.
  const rules = [...tail.matchAll(/<(?:\w+:)?conditionalFormatting\s[^<>]*|<xm:sqref>[^<>]*/g)].map(
    ([tag]) => /sqref(?:="|>)([^"]*)/.exec(tag)?.[1] ?? '',
  );
  const places = tables.map((table) => {
    const text = new TextDecoder(encodingOf(table)).decode(table);
    return /\sref="([^"]*)"/.exec(text)?.[1] ?? '';
  });
  const ranges = [...rules, ...places].flatMap((list) => list.split(/\s+/).flatMap((each) => rangeOf(each) ?? []));
  if (ranges.length > mostRanges || /<(?:\w+:)?picture\s/.test(tail)) return () => true;
  return (row, column) =>
    ranges.some(
      ({ firstRow, lastRow, firstColumn, lastColumn }) =>
        row >= firstRow && row <= lastRow && column >= firstColumn && column <= lastColumn,
    );
}
