import { openPackage } from './open-package.ts';
import { rowsOf, type Workbook } from './sheet.ts';
import { readWorkbookParts } from './xlsx/package-parts.ts';
import { readSheetRows } from './xlsx/sheet-rows.ts';

/**
 * All sheets in the order of the workbook, hidden ones too. Formulas give their stored value, numbers what the sheet
 * shows, dates ISO 8601.
 * @throws Unreadable when it is no workbook.
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
