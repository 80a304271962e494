import { Command, InvalidArgumentError } from 'commander';
import { withConnection } from '../connection/connection-options.ts';
import type { SearchOptions } from './search-collection.ts';

/** Finds the passages of a collection that answer a question. */
export function searchCommand(): Command {
  return withConnection(
    new Command('search').description('find the chunks that answer a question, the best first'),
    'files',
  )
    .argument('<collection>', 'id of the collection')
    .argument('<question>', 'question or words')
    .option('--top-k <number>', 'print at most this many chunks, up to 100', readCount, 5)
    .option('--after <chunk>', 'print the page that follows the chunk with this id, which --json prints')
    .option('--max-tokens <number>', 'print at most this many tokens in all', readCount)
    .option('--filters <json>', 'condition on the metadata, such as {"type":"eq","key":"lang","value":"en"}')
    .action(async (collection: string, question: string, options: SearchOptions) =>
      (await import('./search-collection.ts')).searchCollection(collection, question, options),
    );
}

function readCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('The value must be a whole number from 1.');
  return Number(text);
}
