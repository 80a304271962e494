import type { Block, Document } from '../document.ts';
import { createWarn, isBlank, type Sheet, type Warn, type Workbook } from '../qa/sheet.ts';

/**
 * Reads every visible sheet as a table: a line for each visible row that is not blank, ` | ` between cells.
 * @throws ExtractionError when the file cannot be read
 */
export async function readSheets(format: 'csv' | 'xlsx', bytes: Uint8Array): Promise<Document> {
  const warnings: string[] = [];
  const { sheets, facts } = await readWorkbook(format, bytes, createWarn(warnings));
  const { dialect: _, ...encoding } = facts;
  const blocks = sheets.filter(({ hidden }) => !hidden).map(toTable);
  return {
    blocks: blocks.filter(({ text }) => text !== ''),
    facts: encoding,
    warnings,
  };
}

async function readWorkbook(format: 'csv' | 'xlsx', bytes: Uint8Array, warn: Warn): Promise<Workbook> {
  if (format === 'xlsx') return (await import('./xlsx/read-xlsx.ts')).readXlsx(bytes);
  return (await import('./csv/read-csv.ts')).readCsv(bytes, { charset: undefined, warn });
}

function toTable({ name, rows }: Sheet): Block {
  const lines: string[] = [];
  for (const row of rows) {
    if (row.hidden !== true && !isBlank(row)) lines.push(row.cells.map(onOneLine).join(' | '));
  }
  return { kind: 'table', text: lines.join('\n'), headerRows: 1, ...(name === null ? {} : { sheet: name }) };
}

function onOneLine(cell: string): string {
  return cell.replace(/\s+/g, ' ').trim();
}
