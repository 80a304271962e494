import { Command, InvalidArgumentError, Option } from 'commander';
import { withConnection } from '../connection/connection-options.ts';
import { readLimit } from '../output/print-items.ts';
import type { CreateOptions, FailureOptions, ListOptions, Output, UpdateOptions } from './collections-actions.ts';

/** Creates, lists and deletes the collections of a project. */
export function collectionsCommands(): Command {
  const collections = new Command('collections').description('create, list and delete collections of a service');
  withConnection(collections.command('create').description('create a collection and print its id'), 'files')
    .argument('[name]', 'name of the collection')
    .addOption(new Option('--type <type>', 'what it holds (default: text)').choices(['text', 'qa']))
    .option('--description <text>', 'description of the collection')
    .option('--metadata <json>', 'entries of your own as a JSON object')
    .option('--chunk-size <tokens>', 'maximum tokens of a chunk (default: by script)', readChunkSize)
    .action(async (name: string | undefined, options: CreateOptions) =>
      (await import('./collections-actions.ts')).createCollection(name, options),
    );
  withConnection(collections.command('list').description('list collections, newest first'), 'files')
    .option('--limit <number>', 'list at most this many collections', readLimit, 20)
    .action(async (options: ListOptions) => (await import('./collections-actions.ts')).listCollections(options));
  withConnection(
    collections.command('update').description('change a collection; another chunk size splits its records again'),
    'files',
  )
    .argument('<collection>', 'id of the collection')
    .option('--name <name>', 'name of the collection')
    .option('--description <text>', 'description of the collection')
    .option('--chunk-size <tokens>', 'maximum tokens of a chunk, or 0 for a size by script', readChunkSize)
    .action(async (id: string, options: UpdateOptions) =>
      (await import('./collections-actions.ts')).updateCollection(id, options),
    );
  withConnection(collections.command('get').description('print a collection'), 'files')
    .argument('<collection>', 'id of the collection')
    .action(async (id: string, options: Output) =>
      (await import('./collections-actions.ts')).getCollection(id, options),
    );
  withConnection(
    collections.command('failures').description('list the chunks whose text has failed to be embedded, newest first'),
    'files',
  )
    .argument('<collection>', 'id of the collection')
    .option('--limit <number>', 'list at most this many chunks', readLimit, 20)
    .option('--retry', 'send all these texts to the model again instead, refused ones included', false)
    .action(async (id: string, options: FailureOptions) =>
      (await import('./collections-actions.ts')).listFailures(id, options),
    );
  withConnection(
    collections.command('delete').description('delete collections with all their records and chunks'),
    'files',
  )
    .argument('<collections...>', 'ids of the collections')
    .action(async (ids: string[], options: Output) =>
      (await import('./collections-actions.ts')).deleteCollections(ids, options),
    );
  return collections;
}

/** The service checks the bounds, so that its message names them. */
function readChunkSize(text: string): number {
  const size = Number(text);
  if (!Number.isSafeInteger(size) || size < 0)
    throw new InvalidArgumentError('The value must be a whole number of tokens, or 0 for a size by script.');
  return size;
}
