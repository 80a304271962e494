import type { ColumnSample, ProposedColumns, SheetColumns } from '@quartermaster/contract';
import { cut } from '../cut-text.ts';
import { ExtractionError } from '../extraction-error.ts';
import { acceptedNames } from './column-names.ts';
import { isHeaderLike, longestHeaderName, shapesOf } from './column-shapes.ts';
import { rankOfName } from './match-name.ts';
import type { SheetRow } from './sheet.ts';

const limits = { samples: 5, sample: 200, found: 40, name: 64 };

export interface UnreadSheet {
  readonly name: string | null;
  /** The cells of the row that may be the header. */
  readonly names: readonly string[];
  /** The first rows with a value, at least one. */
  readonly firstRows: readonly SheetRow[];
}

/** Proposes which columns of a sheet are questions and answers. The sender decides whether that is right. */
export function proposeColumns({ name, names, firstRows }: UnreadSheet): ProposedColumns {
  const header = firstRows.find((row) => row.cells === names && isHeaderLike(row));
  const below = header === undefined ? firstRows : firstRows.filter(({ row }) => row > header.row);
  const found = names.slice(0, limits.found).map((cell) => cut(cell.trim(), limits.name));
  const pair = choosePair(header, below);
  const headerRow = header?.row ?? null;
  if (pair === null) return { sheet: name, found, header_row: headerRow, columns: null, samples: [] };
  const samples = below
    .map((row): ColumnSample => ({ row: row.row, question: sample(row, pair[0]), answer: sample(row, pair[1]) }))
    .filter(({ question, answer }) => question !== '' && answer !== '');
  return {
    sheet: name,
    found,
    header_row: headerRow,
    columns: toColumns(header, pair),
    samples: samples.slice(0, limits.samples),
  };
}

/** The indexes of the columns of questions and answers. */
type PairOfColumns = readonly [question: number, answer: number];

function toColumns(header: SheetRow | undefined, [question, answer]: PairOfColumns): SheetColumns {
  if (header === undefined) return { question: question + 1, answer: answer + 1 };
  const names = [question, answer].map((index) => header.cells[index]?.trim() ?? '');
  const [first = '', second = ''] = names;
  if (names.every((name) => name !== '' && name.length <= longestHeaderName))
    return { question: first, answer: second };
  return { question: question + 1, answer: answer + 1, header_row: header.row };
}

function choosePair(header: SheetRow | undefined, rows: readonly SheetRow[]): PairOfColumns | null {
  const columns = shapesOf(rows, limits.found);
  const texts = columns.filter(({ isText }) => isText);
  const named = (role: 'question' | 'answer') =>
    columns.find(({ index }) => rankOfName(header?.cells[index] ?? '', role) !== null);
  const answerByName = named('answer');
  const question =
    named('question') ??
    texts.find(({ questions }) => questions > 0.3) ??
    texts.find(({ index }) => index !== answerByName?.index);
  const others = texts.filter(({ index }) => index !== question?.index);
  const answer = answerByName ?? others.toSorted((a, b) => b.length - a.length)[0];
  if (question === undefined || answer === undefined || question === answer) return null;
  return [question.index, answer.index];
}

function sample(row: SheetRow, index: number): string {
  return cut((row.cells[index] ?? '').replaceAll('\0', '').toWellFormed().trim(), limits.sample);
}

const most = { sheets: 5, columns: 12, names: 12 };

/** The error of a sheet whose columns cannot be told. Its details propose columns, and list the accepted names. */
export function columnsNotFound(sheets: readonly UnreadSheet[], wanted: SheetColumns): ExtractionError {
  const proposed = sheets.slice(0, most.sheets).map(proposeColumns);
  const message = [
    reason(wanted),
    `Found: ${sheets.slice(0, most.sheets).map(describeSheet).join('; ')}.`,
    remedy(proposed.find(({ columns }) => columns !== null)?.columns ?? null),
    `Accepted names are, for questions, ${someOf('question')} and, for answers, ${someOf('answer')}; \`details\` lists all of them.`,
  ].join(' ');
  return new ExtractionError('columns_not_found', message, {
    details: [{ sheets: proposed, accepted_names: acceptedNames }],
  });
}

function reason(wanted: SheetColumns): string {
  const entries = Object.entries(wanted).filter(([, column]) => column !== undefined);
  if (entries.length === 0) return 'No row names both a column of questions and a column of answers.';
  const named = entries.map(([role, column]) => `${role} ${JSON.stringify(shorten(String(column)))}`).join(', ');
  return `No sheet has the columns that the request names (${named}).`;
}

function remedy(columns: SheetColumns | null): string {
  if (columns === null) return 'Send `columns` with the names or numbers of the columns, or rename them in the file.';
  return `Send \`columns\`, such as ${JSON.stringify(columns)}, or rename the columns in the file.`;
}

function describeSheet({ name, names }: UnreadSheet): string {
  const shown = names.slice(0, most.columns).map((column) => JSON.stringify(shorten(column)));
  const more = names.length > most.columns ? `, and ${names.length - most.columns} more` : '';
  return `${name === null ? '' : `the sheet ${JSON.stringify(shorten(name))} has `}${shown.join(', ')}${more}`;
}

function someOf(role: 'question' | 'answer'): string {
  return acceptedNames[role]
    .filter((name) => /^[a-z]+$/.test(name))
    .slice(0, most.names)
    .join(', ');
}

function shorten(text: string): string {
  return cut(text.toWellFormed().trim(), 40);
}
