import { encodingFacts } from '../../encoding/decode-text.ts';
import { decodePieces } from '../../encoding/decoders.ts';
import { findEncoding } from '../../encoding/find-encoding.ts';
import { mostColumns, rowsOf, type SheetRow, type Warn, type Workbook } from '../../qa/sheet.ts';
import { findDialect } from './csv-dialect.ts';
import { type CsvDialect, readRecords } from './csv-records.ts';

/** One sheet without a name. A first line `sep=;` sets the delimiter, as in Excel. */
export function readCsv(bytes: Uint8Array, { charset, warn }: { charset?: string | undefined; warn: Warn }): Workbook {
  const found = findEncoding(bytes, [charset]);
  for (const warning of found.warnings) warn(warning);
  const pieces = () => decodePieces(bytes, found);
  const { value: start = '' } = pieces().next();
  const declared = /^"?sep=(.)"?(?:\r\n?|\n)/.exec(start);
  const skipped = declared?.[0].length ?? 0;
  const dialect = findDialect(start.slice(skipped).replace(/\r\n?/g, '\n'), declared?.[1]);
  const rows = rowsOf(() =>
    readRows(withoutStart(pieces(), skipped), { dialect, firstLine: skipped === 0 ? 1 : 2, warn }),
  );
  return { sheets: [{ name: null, hidden: false, rows }], facts: { ...encodingFacts(found), dialect } };
}

function* withoutStart(pieces: Iterable<string>, skipped: number): Generator<string> {
  let remaining = skipped;
  for (const piece of pieces) {
    yield remaining === 0 ? piece : piece.slice(remaining);
    remaining = 0;
  }
}

const faults = {
  unclosed: 'a quote is never closed; it was kept unchanged',
  misplaced: 'a quote stands in the middle of a quoted cell',
} as const;

function* readRows(
  pieces: Iterable<string>,
  { dialect, firstLine, warn }: { dialect: CsvDialect; firstLine: number; warn: Warn },
): Generator<SheetRow> {
  for (const { line, cells, fault } of readRecords(pieces, dialect, firstLine)) {
    if (fault !== undefined) warn(`Line ${line}: ${faults[fault]}.`);
    if (cells.length <= mostColumns) yield { row: line, cells };
    else yield { row: line, cells: cells.slice(0, mostColumns), isCut: true };
  }
}
