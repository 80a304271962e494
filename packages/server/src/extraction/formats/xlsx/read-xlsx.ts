import { rowsOf, type Workbook } from '../../qa/sheet.ts';
import { openPackage } from '../open-package.ts';
import { readWorkbookParts } from './package-parts.ts';
import { readSheetRows } from './sheet-rows.ts';

/**
 * All sheets in the order of the workbook, hidden ones too. Formulas give their stored value, numbers what the sheet
 * shows, dates ISO 8601.
 * @throws ExtractionError when it is no workbook.
 */
export function readXlsx(bytes: Uint8Array): Workbook {
  const { sheets, ...values } = readWorkbookParts(openPackage(bytes, 'xlsx').parts);
  return {
    sheets: sheets.map(({ name, hidden, part }) => ({
      name,
      hidden,
      rows: rowsOf(() => readSheetRows(part, values)),
    })),
    facts: {},
  };
}
