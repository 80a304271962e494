import { isBlank, type SheetRow } from '../../qa/sheet.ts';
import { columnOf, rowOf } from './cell-reference.ts';
import { encodingOf } from './xml-events.ts';

interface Merge {
  readonly firstRow: number;
  readonly lastRow: number;
  readonly column: number;
  /** The value of the top left cell, known once its row was read. */
  value: string;
}

/** Fills the rows below the first row of a merged range. Rows come in order. */
export interface Merges {
  fill(row: SheetRow): SheetRow;
}

const mostMerges = 200_000;
const mostOpen = 1000;

/**
 * Merged ranges follow the rows in the file, so they are read first. A range over several rows repeats its value in
 * each row, in its first column, such as one answer for several questions. A range over several columns is not
 * repeated, because that would invent cells. Rows without a value of their own stay blank.
 */
export function createMerges(part: Uint8Array): Merges {
  const merges = findMerges(part);
  let next = 0;
  let open: Merge[] = [];
  return {
    fill: (row) => {
      for (let merge = merges[next]; merge !== undefined && merge.firstRow <= row.row; merge = merges[next]) {
        next += 1;
        if (merge.firstRow === row.row) merge.value = row.cells[merge.column] ?? '';
        if (merge.value !== '' && open.length < mostOpen) open.push(merge);
      }
      if (open.length === 0 || isBlank(row)) return row;
      open = open.filter((merge) => merge.lastRow >= row.row);
      const empty = open.filter((merge) => merge.firstRow < row.row && (row.cells[merge.column] ?? '') === '');
      return empty.length === 0 ? row : { ...row, cells: withValues(row.cells, empty) };
    },
  };
}

function withValues(cells: readonly string[], merges: readonly Merge[]): string[] {
  const filled = [...cells];
  for (const { column, value } of merges) {
    while (filled.length < column) filled.push('');
    filled[column] = value;
  }
  return filled;
}

function findMerges(part: Uint8Array): Merge[] {
  const encoding = encodingOf(part);
  const bytes = Buffer.from(part.buffer, part.byteOffset, part.length);
  const start = encoding.startsWith('utf-16') ? 0 : bytes.lastIndexOf('</sheetData>');
  const closing = start === -1 ? bytes.indexOf('mergeCells') : start;
  if (closing === -1) return [];
  const tail = new TextDecoder(encoding).decode(bytes.subarray(closing));
  const found: Merge[] = [];
  // A tag contains no `<`, so no byte belongs to two candidates.
  for (const [tag] of tail.matchAll(/<(?:\w+:)?mergeCell\s[^<>]*/g)) {
    if (found.length === mostMerges) break;
    const [, from = '', to = ''] = /ref="([A-Z]+\d+):([A-Z]+\d+)"/.exec(tag) ?? [];
    const [firstRow, lastRow] = [rowOf(from), rowOf(to)];
    if (lastRow > firstRow) found.push({ firstRow, lastRow, column: columnOf(from), value: '' });
  }
  return found.sort((a, b) => a.firstRow - b.firstRow);
}
