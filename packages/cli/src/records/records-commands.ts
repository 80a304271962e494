import type { Quartermaster } from '@quartermaster/client';
import { Command, Option } from 'commander';
import { callService, type ServiceOptions, withConnection } from '../connection/service-command.ts';
import { deleteEach } from '../each-item.ts';
import { printResult, say, time } from '../output/print.ts';
import { type ListOptions, printItem, printList, readSeconds, withPages } from '../output/print-items.ts';
import type { AddOptions } from './add-records.ts';

/** Adds documents to a collection, and lists, retries and deletes its records. */
export function recordsCommands(): Command {
  const records = new Command('records').description('add, list, retry and delete records of a collection');
  addAdd(records);
  withPages(on(records, 'list', 'list records, newest first'), 'records').action(callService('files', listRecords));
  on(records, 'get', 'print a record')
    .argument('<record>', 'id of the record')
    .action(
      callService('files', async (qm, collection: string, id: string, { json }: ServiceOptions) =>
        printItem(await qm.records.get(collection, id), json),
      ),
    );
  on(records, 'wait', 'wait until a record is processed; exits with 1 when it failed')
    .argument('<record>', 'id of the record')
    .option('--timeout <seconds>', 'give up after this time; 0: never', readSeconds, 600)
    .action(
      callService('files', async (qm, collectionId: string, recordId: string, { timeout, json }: WaitOptions) => {
        const { waitForRecord } = await import('./wait-for-record.ts');
        await waitForRecord(qm, { collectionId, recordId, timeout, json });
      }),
    );
  on(records, 'retry', 'process a record again')
    .argument('<record>', 'id of the record')
    .action(
      callService('files', async (qm, collection: string, id: string, options: ServiceOptions) => {
        const record = await qm.records.retry(collection, id);
        printResult(options, record, () => say(record.status));
      }),
    );
  on(records, 'delete', 'delete records with their chunks')
    .argument('<records...>', 'ids of the records')
    .action(
      callService('files', async (qm, collection: string, ids: string[], { json }: ServiceOptions) =>
        deleteEach(ids, { member: 'record_id', json }, (id) => qm.records.delete(collection, id)),
      ),
    );
  return records;
}

interface WaitOptions extends ServiceOptions {
  /** Seconds; 0: no limit. */
  readonly timeout: number;
}

async function listRecords(
  qm: Quartermaster,
  collectionId: string,
  options: ServiceOptions & ListOptions,
): Promise<void> {
  await printList(options, (page) => qm.records.list(collectionId, page), {
    heads: ['RECORD', 'TITLE', 'TYPE', 'STATUS', 'CHUNKS', 'CREATED'],
    row: (one) => [
      ...[one.record_id, one.title, one.type, one.error?.code ?? one.status, String(one.num_chunks)],
      time(one.created_timestamp),
    ],
  });
}

function on(records: Command, name: string, description: string): Command {
  return withConnection(records.command(name).description(description), 'files').argument(
    '<collection>',
    'id of the collection',
  );
}

function addAdd(records: Command): void {
  on(records, 'add', 'create records from files, texts and web pages and print their ids')
    .argument('[paths...]', 'files to upload; one record is created from each')
    .option('--file <id...>', 'create a record from a file that was uploaded before')
    .option('--text <text>', 'create a record from this text')
    .option('--web <url>', 'create a record from a web page, which the service reads')
    .option('--title <text>', 'title of the record')
    .option('--metadata <json>', 'entries of your own as a JSON object of texts')
    .addOption(
      new Option(
        '--on-duplicate <action>',
        'choose how to handle pairs of a sheet that the collection already contains (default: keep)',
      ).choices(['skip', 'replace', 'keep']),
    )
    .option('--columns <json>', 'name the columns of a sheet, by name or number: {"question": "Frage", "answer": 3}')
    .option('--password-file <path>', 'read the password of the files from this file; -: from standard input')
    .option('--wait', 'wait until the records are processed; exits with 1 when one failed')
    .option('--timeout <seconds>', 'wait for each record at most this long; 0: no limit', readSeconds, 600)
    .action(async (collection: string, paths: string[], options: AddOptions) =>
      (await import('./add-records.ts')).addRecords(collection, paths, options),
    );
}
