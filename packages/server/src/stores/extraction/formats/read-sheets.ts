import type { Block, Document } from '../document.ts';
import {
  createWarn,
  cutSheetNames,
  describeHiddenRows,
  describeHiddenSheets,
  isBlank,
  ofSheet,
  type Sheet,
  type Warn,
  type Workbook,
  withoutHiddenCells,
} from '../qa/sheet.ts';
import type { TextSource } from './read-document.ts';

/**
 * Reads every visible sheet as a table: a line for each visible row that is not blank, ` | ` between cells. The name of a
 * sheet is a heading. Text boxes and titles of charts follow the sheets; comments are counted. Warnings name what is hidden and was not read.
 * @throws ExtractionError when the file cannot be read
 */
export async function readSheets(format: 'csv' | 'xlsx', bytes: Uint8Array): Promise<Document> {
  const warnings: string[] = [];
  const { sheets, facts, drawings } = await readWorkbook({ format, bytes }, createWarn(warnings));
  const { dialect: _, ...encoding } = facts;
  const read = readWorkbookSheets(sheets, warnings);
  const boxes = (drawings?.texts ?? []).map((text) => ({ kind: 'paragraph', text }) as const);
  const comments = drawings?.commentCharacters ?? 0;
  return {
    ...read,
    blocks: [...read.blocks, ...boxes],
    facts: { ...encoding, ...(comments === 0 ? {} : { dropped: { comments } }) },
  };
}

/** Reads the sheets of a workbook of any format. @param warnings those of its reader */
export function readWorkbookSheets(read: readonly Sheet[], warnings: string[] = []): Omit<Document, 'facts'> {
  const warn = createWarn(warnings);
  const sheets = cutSheetNames(read, warn);
  const blocks = sheets.filter(({ hidden }) => !hidden).flatMap((sheet) => toBlocks(sheet, warn));
  return { blocks, warnings: [...warnings, ...describeHiddenSheets(sheets)] };
}

/** @throws ExtractionError when the file cannot be read */
export async function readWorkbook(
  { format, bytes, charset }: Pick<TextSource, 'format' | 'bytes' | 'charset'>,
  warn: Warn,
): Promise<Workbook> {
  if (format === 'xlsx') {
    const workbook = await (await import('./xlsx/read-xlsx.ts')).readXlsx(bytes);
    for (const warning of workbook.warnings ?? []) warn(warning);
    return workbook;
  }
  if (format === 'csv') return (await import('./csv/read-csv.ts')).readCsv(bytes, { charset, warn });
  throw new Error(`No reader reads sheets of ${format}.`);
}

function toBlocks(sheetRead: Sheet, warn: Warn): Block[] {
  const { name, rows, hiddenColumns } = withoutHiddenCells(sheetRead, warn);
  const lines: string[] = [];
  let hidden = 0;
  let cut = 0;
  for (const row of rows) {
    if (isBlank(row)) continue;
    if (row.hidden === true) hidden += 1;
    else {
      const shown = row.cells.filter((_, column) => hiddenColumns?.has(column) !== true);
      lines.push(shown.map(onOneLine).join(' | '));
      if (row.isCut === true) cut += 1;
    }
  }
  if (hidden > 0) warn(describeHiddenRows(name, hidden));
  if (cut > 0) warn(`columns_cut: Cells after the first 1,024 columns${ofSheet(name)} were not read, in ${cut} rows.`);
  if (lines.length === 0) return [];
  const sheet = name === null ? {} : { sheet: name };
  return [
    ...(name === null ? [] : [{ kind: 'heading', level: 1, text: name, ...sheet } as const]),
    { kind: 'table', text: lines.join('\n'), headerRows: 1, ...sheet },
  ];
}

function onOneLine(cell: string): string {
  return cell.replace(/\s+/g, ' ').trim();
}
