import { Command, Option } from 'commander';
import { withConnection } from '../connection/connection-options.ts';
import { readLimit, readSeconds } from '../output/print-items.ts';
import type { AddOptions } from './add-records.ts';
import type { ListOptions, Output, RecordWaitOptions } from './records-actions.ts';

/** Adds documents to a collection, and lists, retries and deletes its records. */
export function recordsCommands(): Command {
  const records = new Command('records').description('add, list, retry and delete records of a collection');
  addAdd(records);
  on(records, 'list', 'list records, newest first')
    .option('--limit <number>', 'list at most this many records', readLimit, 20)
    .action(async (collection: string, options: ListOptions) =>
      (await import('./records-actions.ts')).listRecords(collection, options),
    );
  on(records, 'get', 'print a record')
    .argument('<record>', 'id of the record')
    .action(async (collection: string, record: string, options: Output) =>
      (await import('./records-actions.ts')).getRecord(collection, record, options),
    );
  on(records, 'wait', 'wait until a record is processed; exits with 1 when it failed')
    .argument('<record>', 'id of the record')
    .option('--timeout <seconds>', 'give up after this time; 0: never', readSeconds, 600)
    .action(async (collection: string, record: string, options: RecordWaitOptions) =>
      (await import('./records-actions.ts')).waitForOne(collection, record, options),
    );
  on(records, 'retry', 'process a record again')
    .argument('<record>', 'id of the record')
    .action(async (collection: string, record: string, options: Output) =>
      (await import('./records-actions.ts')).retryRecord(collection, record, options),
    );
  on(records, 'delete', 'delete records with their chunks')
    .argument('<records...>', 'ids of the records')
    .action(async (collection: string, ids: string[], options: Output) =>
      (await import('./records-actions.ts')).deleteRecords(collection, ids, options),
    );
  return records;
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
