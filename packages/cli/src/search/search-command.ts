import { Command, InvalidArgumentError } from 'commander';
import { withConnection } from '../connection/service-command.ts';
import type { EvaluateOptions } from './evaluate-collection.ts';
import type { SearchOptions } from './search-collection.ts';

/** Finds the passages of a collection that answer a question. */
export function searchCommand(): Command {
  return withConnection(
    new Command('search').description('find the chunks that answer a question, the best first'),
    'files',
  )
    .argument('<collection>', 'id of the collection, or ids of up to 20 collections with commas between them')
    .argument('<question>', 'question or words')
    .option('--top-k <number>', 'print at most this many chunks, up to 100', readCount, 10)
    .option('--after <chunk>', 'print the page that follows the chunk with this id, which --json prints')
    .option('--max-tokens <number>', 'print at most this many tokens in all', readCount)
    .option('--score-threshold <number>', 'print only chunks with at least this score, from 0 to 1', readScore)
    .option(
      '--expand <number>',
      'print also the chunks up to this many places before and after each one, up to 5',
      readCount,
    )
    .option('--rerank', 'let the reranking service of the installation sort the best chunks')
    .option('--filters <json>', 'condition on the metadata, such as {"type":"eq","key":"lang","value":"en"}')
    .action(async (collection: string, question: string, options: SearchOptions) =>
      (await import('./search-collection.ts')).searchCollection(collection, question, options),
    );
}

/** Asks a collection the questions of a sheet and prints at which places it finds their answers. */
export function evaluateCommand(): Command {
  return withConnection(
    new Command('evaluate').description(
      'ask the questions of a sheet and print how often the expected answer is found',
    ),
    'files',
  )
    .argument('<collection>', 'id of the collection')
    .argument('<sheet>', 'CSV file or workbook with a question and the expected document or passage in each row')
    .option('--columns <json>', 'name the columns, by name or number: {"question": "Frage", "answer": 3}')
    .action(async (collection: string, sheet: string, options: EvaluateOptions) =>
      (await import('./evaluate-collection.ts')).evaluateCollection(collection, sheet, options),
    );
}

function readCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('The value must be a whole number from 1.');
  return Number(text);
}

function readScore(text: string): number {
  if (!/^(?:0(?:\.\d{1,9})?|1(?:\.0{1,9})?)$/.test(text))
    throw new InvalidArgumentError('The value must be a number from 0 to 1, such as 0.35.');
  return Number(text);
}
