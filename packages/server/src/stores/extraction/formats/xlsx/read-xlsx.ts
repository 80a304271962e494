import { rowsOf, type Workbook } from '../../qa/sheet.ts';
import { openPackage } from '../open-package.ts';
import { readWorkbookParts } from './package-parts.ts';
import { readSheetRows } from './sheet-rows.ts';

/**
 * Reads all sheets in the order of the workbook, including hidden ones. Formulas give their stored value, numbers the
 * displayed text, dates ISO 8601.
 * @throws ExtractionError when it is not a workbook.
 */
export async function readXlsx(bytes: Uint8Array): Promise<Workbook> {
  const { sheets, ...values } = readWorkbookParts(await openPackage(bytes, 'xlsx'));
  return {
    sheets: sheets.map(({ name, hidden, part }) => ({
      name,
      hidden,
      rows: rowsOf(() => readSheetRows(part, values)),
    })),
    facts: {},
  };
}
