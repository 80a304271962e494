import type { ExtractionReport } from './extraction.ts';

/** What every reader of a sheet format gives. */
export interface Workbook {
  readonly sheets: readonly Sheet[];
  readonly facts: Pick<ExtractionReport, 'encoding'>;
  readonly warnings: readonly string[];
}

export interface Sheet {
  /** Null for CSV, which has no name. */
  readonly name: string | null;
  readonly rows: Iterable<SheetRow>;
}

export interface SheetRow {
  /** Row of the sheet, or line on which the CSV record begins, from 1. */
  readonly row: number;
  readonly cells: readonly string[];
}
