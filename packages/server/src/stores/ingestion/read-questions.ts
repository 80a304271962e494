import {
  type Locator,
  longestEvaluated,
  mostEvaluated,
  purposes,
  type ReadSheet,
  type RecordFailureDetails,
  type SkippedRow,
} from '@quartermaster/contract';
import type { Problem } from '../../platform/problem.ts';
import { fieldInvalid, quoteNames, validationFailed } from '../../platform/validation/validation-error.ts';
import type { ExpectedAnswer, ReadQuestions } from '../collections/evaluations/evaluations.ts';
import { readSource } from '../collections/records/record-source.ts';
import { type ExtractionReport, type ReportedRow, rowCodes } from '../extraction/extraction.ts';
import type { DryRunDeps } from './dry-run.ts';
import { taskOf } from './extract-record.ts';
import { openSource } from './process-record.ts';

const sheet = purposes.qa_record_file;
const wantedColumns = 'a sheet with the columns "question" and "expected", or with those that `columns` names';
const mostSheets = 5;
const mostNames = 12;
const wanted = `a sheet with at most ${mostEvaluated} rows of a question and what is expected`;

/** Returns the function that reads the questions of an evaluation as a question–answer sheet is read. */
export function createReadQuestions(deps: Pick<DryRunDeps, 'files' | 'pages' | 'extractor' | 'queue'>): ReadQuestions {
  return async (place, { file_id, columns }, signal) => {
    const { projectId, keyId, reach } = place;
    const fields = { type: sheet.recordType, file_id, ...(columns === undefined ? {} : { columns }) };
    const source = await readSource(fields, { ...deps, projectId, reach, collectionType: sheet.collectionType });
    const questions: ExpectedAnswer[] = [];
    const skipped: SkippedRow[] = [];
    let numSkipped = 0;
    /** The place of the first question of each sheet. */
    const firsts = new Map<string | null, Locator>();
    const outcome = await deps.queue.run(
      place,
      async () => {
        const opened = await openSource(deps, { ...source, projectId }, { signal, onProgress: () => {} });
        if (opened.kind === 'failed') return opened;
        const task = { ...taskOf(source, {}), projectId, keyId, source: opened, maxChunks: mostEvaluated };
        const onBatch = async (batch: Parameters<Parameters<typeof deps.extractor.extract>[0]['onBatch']>[0]) => {
          for (const { question, answer, locator } of batch) {
            questions.push({ row: locator?.row ?? null, question: question ?? '', expected: answer ?? '' });
            const sheet = locator?.sheet ?? null;
            if (locator !== null && !firsts.has(sheet)) firsts.set(sheet, locator);
          }
        };
        const onReportedRows = async (rows: readonly ReportedRow[]) => {
          numSkipped += rows.length;
          for (const { row, code } of rows.slice(0, mostEvaluated - skipped.length))
            skipped.push({ row, code, message: rowCodes[code].message });
        };
        return deps.extractor.extract({ ...task, onBatch, onReportedRows, onStage: () => {} }, signal);
      },
      { signal },
    );
    if (outcome === null || outcome.kind === 'cancelled') throw new Error('The evaluation was cancelled.');
    if (outcome.kind === 'failed') throw refused(outcome);
    const long = questions.find(({ question }) => question.length > longestEvaluated);
    if (long !== undefined)
      throw fieldInvalid(
        'body/file_id',
        `a question of ${long.question.length} characters in row ${long.row}`,
        `a sheet with questions of at most ${longestEvaluated} characters`,
      );
    return { questions, numSkipped, skipped, sheets: sheetsOf(outcome.report, firsts) };
  };
}

/** The cells of the first question of a sheet tell which columns were taken. */
function sheetsOf(report: ExtractionReport, firsts: ReadonlyMap<string | null, Locator>): ReadSheet[] {
  const read = (report.sheets ?? []).flatMap(({ name, columns: found, header_row: headerRow }) => {
    const [question, answer] = (firsts.get(name)?.cells ?? []).map(numberOfColumn);
    if (question === undefined || answer === undefined) return [];
    const columns = { question, answer, ...(headerRow === undefined ? {} : { header_row: headerRow }) };
    return [{ sheet: name, found: [...found], header_row: headerRow ?? null, columns }];
  });
  return read.slice(0, mostSheets);
}

/** @param cell such as `B7`, which is in column 2 */
function numberOfColumn(cell: string): number {
  const letters = [...cell].filter((sign) => sign >= 'A');
  return letters.reduce((number, letter) => number * 26 + letter.charCodeAt(0) - 64, 0);
}

interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly details?: RecordFailureDetails;
}

function refused({ code, message, details }: Refusal): Problem {
  if (code === 'capacity_exceeded') return fieldInvalid('body/file_id', 'more rows', wanted);
  if (code !== 'columns_not_found')
    return fieldInvalid('body/file_id', `a file that cannot be read: ${message.replace(/\.$/, '')}`, wanted);
  const names = details?.[0]?.sheets[0]?.found.slice(0, mostNames) ?? [];
  const found = `a sheet with the columns ${quoteNames(names)}`;
  return validationFailed([{ path: 'body/file_id', found, expected: wantedColumns, ...details?.[0] }]);
}
