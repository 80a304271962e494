import readWorkbook from 'read-excel-file/universal';
import { openPackage } from './open-package.ts';
import type { SheetRow, Workbook } from './sheet.ts';
import { fileDamaged } from './unreadable.ts';

/** All sheets in the order of the workbook. Formulas give their stored value, dates ISO 8601. */
export async function readXlsx(bytes: Uint8Array): Promise<Workbook> {
  const packed = openPackage(bytes, 'xlsx').repack();
  const sheets = await parse(new Uint8Array(packed).buffer);
  return {
    sheets: sheets.map(({ sheet, data }) => ({ name: sheet, rows: toRows(data) })),
    facts: {},
    warnings: [],
  };
}

async function parse(packed: ArrayBuffer) {
  try {
    return await readWorkbook(packed, { trim: false });
  } catch (cause) {
    const detail = cause instanceof Error && cause.name === 'InvalidSpreadsheetError' ? cause.message : 'broken parts';
    throw fileDamaged('Excel', detail, cause);
  }
}

function* toRows(data: readonly (readonly unknown[])[]): Generator<SheetRow> {
  for (const [index, cells] of data.entries()) yield { row: index + 1, cells: cells.map(toText) };
}

function toText(cell: unknown): string {
  if (cell === null || cell === undefined) return '';
  if (cell instanceof Date) return toIso(cell);
  if (typeof cell === 'boolean') return cell ? 'TRUE' : 'FALSE';
  return String(cell);
}

/** A day without a time is written as a day. */
function toIso(date: Date): string {
  if (Number.isNaN(date.getTime())) return '';
  const text = date.toISOString();
  return text.endsWith('T00:00:00.000Z') ? text.slice(0, 10) : text.replace(/\.000Z$/, 'Z');
}
