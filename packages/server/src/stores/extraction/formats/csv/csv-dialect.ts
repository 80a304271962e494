import { findPairColumns } from '../../qa/pair-columns.ts';
import { type CsvDialect, readRecords } from './csv-records.ts';

/** The number of characters at the start of a file that are examined. */
const sampleCharacters = 64 * 1024;
const mostRows = 500;

const delimiters = [',', ';', '\t', '|'] as const;
const quotes = ['"', "'"] as const;

/** The default dialect: commas and double quotes (RFC 4180). */
const usual: CsvDialect = { delimiter: ',', quote: '"', escape: 'doubled' };

/**
 * Returns the dialect under which the text looks most like a table: rows of equal width, and cells that look like
 * values. A header that names question and answer takes precedence.
 */
export function findDialect(text: string, delimiter?: string): CsvDialect {
  const sample = text.slice(0, sampleCharacters);
  const isWhole = text.length <= sampleCharacters;
  let best = { dialect: delimiter === undefined ? usual : { ...usual, delimiter }, score: 0 };
  for (const dialect of dialectsFor(sample, delimiter)) {
    const score = scoreOf(readSample(sample, dialect, isWhole), dialect);
    if (score > best.score + 1e-9) best = { dialect, score };
  }
  return best.dialect;
}

function* dialectsFor(sample: string, declared: string | undefined): Generator<CsvDialect> {
  const candidates = declared === undefined ? delimiters.filter((each) => sample.includes(each)) : [declared];
  for (const delimiter of candidates) {
    for (const quote of quotes) {
      if (quote === "'" && !opensCells(sample, quote, delimiter)) continue;
      yield { delimiter, quote, escape: 'doubled' };
      if (/\\["',;|\t]/.test(sample)) yield { delimiter, quote, escape: 'backslash' };
    }
  }
}

/** Whether cells begin with the quote. An apostrophe rarely begins a cell. */
function opensCells(sample: string, quote: string, delimiter: string): boolean {
  return sample.split('\n', mostRows).some((line) => line.startsWith(quote) || line.includes(delimiter + quote));
}

interface Sample {
  readonly rows: readonly string[][];
  readonly faults: number;
}

function readSample(sample: string, dialect: CsvDialect, isWhole: boolean): Sample {
  const rows: string[][] = [];
  let faults = 0;
  for (const { cells, fault } of readRecords([sample], dialect)) {
    rows.push(cells);
    if (fault !== undefined) faults += 1;
    if (rows.length > mostRows) break;
  }
  // The last record of a piece may be incomplete.
  if (!isWhole || rows.length > mostRows) rows.pop();
  return { rows: rows.filter((cells) => cells.some((cell) => cell.trim() !== '')), faults };
}

const headerBonus = 1;
const plainNames = { wanted: {}, match: 'exact' } as const;

function scoreOf({ rows, faults }: Sample, dialect: CsvDialect): number {
  if (rows.length === 0) return 0;
  const widths = new Map<number, number>();
  for (const { length } of rows) widths.set(length, (widths.get(length) ?? 0) + 1);
  const [[width, count] = [1, 0]] = [...widths].toSorted(([a, first], [b, second]) => second - first || b - a);
  if (width === 1) return 0;
  const uniformity = count / rows.length;
  const shape = (width - 1) / width;
  const clean = cleanShare(rows.flat(), dialect);
  const sound = 1 / (1 + faults);
  const named = rows.slice(0, 5).some((row) => findPairColumns(row, plainNames) !== null) ? headerBonus : 0;
  return uniformity ** 2 * shape * Math.max(0, clean) ** 4 * sound + named * sound;
}

/** The weight of blanks after a delimiter, which are more common after the commas of a sentence. */
const blankWeight = 0.2;

function cleanShare(cells: readonly string[], dialect: CsvDialect): number {
  // A single cell in single quotes may be intended. When most cells are, the file uses single quotes.
  const inSingle = cells.filter((cell) => /^'.*'$/s.test(cell.trim())).length;
  const count = inSingle * 2 > cells.length ? cells.length - inSingle : cells.length;
  const clean = cells.filter((cell) => looksLikeValue(cell, dialect)).length;
  const starts = cells.filter((cell) => /^'[^']*$/.test(cell.trim())).length;
  const ends = cells.filter((cell) => /^[^']*'$/.test(cell.trim())).length;
  const halves = dialect.quote === "'" ? 0 : 2 * Math.min(starts, ends);
  const blank = cells.filter((cell) => /^ \S/.test(cell)).length;
  return (Math.min(clean, count) - halves - blankWeight * blank) / cells.length;
}

/** A cell with unbalanced quotes, or quoted as a whole, was split at the wrong positions. */
function looksLikeValue(cell: string, dialect: CsvDialect): boolean {
  const value = cell.trim();
  const doubled = dialect.escape === 'doubled';
  if (/^".+"$/s.test(value)) return false;
  if (doubled && (/\\["']/.test(value) || value.endsWith('\\'))) return false;
  return !/^"[^"]*$|^[^"]*[^"\d\s]"$/.test(value);
}
