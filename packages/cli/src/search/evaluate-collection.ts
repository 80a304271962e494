import type { Quartermaster } from '@quartermaster/client';
import { connect } from '../connection/connection.ts';
import type { ServiceOptions } from '../connection/service-command.ts';
import { uploadFile } from '../files/upload-file.ts';
import { printResult, say } from '../output/print.ts';
import { readObject } from '../read-arguments.ts';

export interface EvaluateOptions extends ServiceOptions {
  readonly columns?: string;
}

type Evaluation = Awaited<ReturnType<Quartermaster['collections']['evaluate']>>;
type EvaluationCreate = Parameters<Quartermaster['collections']['evaluate']>[1];

/** Uploads a sheet, evaluates the collection with it, prints the result and deletes the sheet. */
export async function evaluateCollection(collection: string, sheet: string, options: EvaluateOptions): Promise<void> {
  const columns = options.columns === undefined ? undefined : readObject(options.columns, '--columns');
  const qm = await connect(options, 'files');
  const { file_id } = await uploadFile(qm, sheet, { purpose: 'qa_record_file' });
  try {
    // The service checks the columns.
    const evaluation = await qm.collections.evaluate(collection, {
      file_id,
      ...(columns && { columns }),
    } as EvaluationCreate);
    printResult(options, evaluation, () => printEvaluation(evaluation));
  } finally {
    await qm.files.delete(file_id);
  }
}

function printEvaluation({ questions, previous, skipped, num_skipped: numSkipped, ...now }: Evaluation): void {
  for (const { row, message } of skipped) say(`row ${row}  skipped  ${message}`);
  for (const { row, question, rank, previous_rank: was, best } of questions) {
    if (rank === 1) continue;
    const change = was === undefined || was === rank ? '' : `, before ${was ?? 'not found'}`;
    say(`row ${row ?? '-'}  ${rank ?? 'not found'}${change}  ${question}  (best: ${best ?? 'nothing'})`);
  }
  // The counts of other questions say nothing about these.
  const isSame = previous?.num_same === now.num_questions && previous.num_questions === now.num_questions;
  const line = (name: string, count: (each: typeof now | NonNullable<typeof previous>) => number) =>
    say(
      `${name}${count(now)} of ${now.num_questions}${previous !== null && isSame ? `, before ${count(previous)} of ${previous.num_questions}` : ''}`,
    );
  line('first         ', (each) => each.num_first);
  line('within three  ', (each) => each.num_within_three);
  line('within ten    ', (each) => each.num_within_ten);
  if (numSkipped > 0) say(`skipped       ${numSkipped}`);
  if (previous !== null && !isSame)
    say(`The last evaluation had other questions: ${previous.num_same} of its ${previous.num_questions} are the same.`);
}
