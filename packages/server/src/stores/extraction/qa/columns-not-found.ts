import type { SheetColumns } from '@quartermaster/contract';
import { cut } from '../cut-text.ts';
import { ExtractionError } from '../extraction-error.ts';
import { acceptedNames } from './column-names.ts';
import { proposeColumns, type UnreadSheet } from './propose-columns.ts';

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
