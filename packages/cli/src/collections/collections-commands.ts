import type { Quartermaster } from '@quartermaster/client';
import { Command, InvalidArgumentError, Option } from 'commander';
import { callService, type ServiceOptions, withConnection } from '../connection/service-command.ts';
import { deleteEach } from '../each-item.ts';
import { printJson, printResult, say, time } from '../output/print.ts';
import { type ListOptions, printItem, printList, withPages } from '../output/print-items.ts';
import { readObject } from '../read-arguments.ts';

interface MemberOptions extends ServiceOptions {
  readonly name?: string;
  readonly type?: 'text' | 'qa';
  readonly description?: string;
  readonly metadata?: string;
  /** 0 restores the default. */
  readonly chunkSize?: number;
}

/** Creates, lists and deletes the collections of a project. */
export function collectionsCommands(): Command {
  const collections = new Command('collections').description('create, list and delete collections of a service');
  const on = (name: string, description: string) =>
    withConnection(collections.command(name).description(description), 'files');
  on('create', 'create a collection and print its id')
    .argument('[name]', 'name of the collection')
    .addOption(new Option('--type <type>', 'what it holds (default: text)').choices(['text', 'qa']))
    .option('--description <text>', 'description of the collection')
    .option('--metadata <json>', 'entries of your own as a JSON object')
    .option('--chunk-size <tokens>', 'maximum tokens of a chunk (default: by script)', readChunkSize)
    .action(
      callService('files', async (qm, name: string | undefined, options: MemberOptions) => {
        const created = await qm.collections.create(toBody({ ...options, ...(name === undefined ? {} : { name }) }));
        printResult(options, created, () => say(created.collection_id));
      }),
    );
  withPages(on('list', 'list collections, newest first'), 'collections').action(callService('files', listCollections));
  on('update', 'change a collection; another chunk size splits its records again')
    .argument('<collection>', 'id of the collection')
    .option('--name <name>', 'name of the collection')
    .option('--description <text>', 'description of the collection')
    .option('--chunk-size <tokens>', 'maximum tokens of a chunk, or 0 for a size by script', readChunkSize)
    .action(
      callService('files', async (qm, id: string, options: MemberOptions) =>
        printItem(await qm.collections.update(id, toBody(options)), options.json),
      ),
    );
  on('get', 'print a collection')
    .argument('<collection>', 'id of the collection')
    .action(
      callService('files', async (qm, id: string, { json }: ServiceOptions) =>
        printItem(await qm.collections.get(id), json),
      ),
    );
  withPages(on('failures', 'list the chunks whose text has failed to be embedded, newest first'), 'chunks')
    .argument('<collection>', 'id of the collection')
    .option('--retry', 'send all these texts to the model again instead, refused ones included', false)
    .action(callService('files', listFailures));
  on('delete', 'delete collections with all their records and chunks')
    .argument('<collections...>', 'ids of the collections')
    .action(
      callService('files', async (qm, ids: string[], { json }: ServiceOptions) =>
        deleteEach(ids, { member: 'collection_id', json }, (id) => qm.collections.delete(id)),
      ),
    );
  return collections;
}

/** Returns the members that are given. */
function toBody({ name, type, description, metadata, chunkSize }: MemberOptions) {
  return {
    ...(name === undefined ? {} : { name }),
    ...(type === undefined ? {} : { type }),
    ...(description === undefined ? {} : { description }),
    ...(metadata === undefined ? {} : { metadata: readObject(metadata, '--metadata') }),
    ...(chunkSize === undefined ? {} : { chunking: chunkSize === 0 ? {} : { chunk_size: chunkSize } }),
  };
}

async function listCollections(qm: Quartermaster, options: ServiceOptions & ListOptions): Promise<void> {
  await printList(options, (page) => qm.collections.list(page), {
    heads: ['COLLECTION', 'NAME', 'TYPE', 'RECORDS', 'CHUNKS', 'CREATED'],
    row: (one) => [
      ...[one.collection_id, one.name, one.type, String(one.num_records), String(one.num_chunks)],
      time(one.created_timestamp),
    ],
  });
}

async function listFailures(
  qm: Quartermaster,
  collectionId: string,
  { retry, ...options }: ServiceOptions & ListOptions & { readonly retry: boolean },
): Promise<void> {
  if (retry) {
    const { embedding } = await qm.collections.retryEmbeddingFailures(collectionId);
    if (options.json === true) printJson(embedding);
    else say(`Chunks that wait for their vector: ${embedding?.num_pending ?? 0}`);
    return;
  }
  await printList(options, (page) => qm.collections.embeddingFailures(collectionId, page), {
    heads: ['CHUNK', 'RECORD', 'NEXT ATTEMPT', 'REASON'],
    row: (one) => [
      ...[one.chunk_id, one.record_id ?? ''],
      one.next_attempt_timestamp === null ? 'refused' : time(one.next_attempt_timestamp),
      one.reason ?? '',
    ],
  });
}

/** The service checks the bounds, so that its message names them. */
function readChunkSize(text: string): number {
  const size = Number(text);
  if (!Number.isSafeInteger(size) || size < 0)
    throw new InvalidArgumentError('The value must be a whole number of tokens, or 0 for a size by script.');
  return size;
}
