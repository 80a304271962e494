import type { Quartermaster } from '@quartermaster/client';
import { commandName } from '@quartermaster/contract/command-name';
import { Command } from 'commander';
import { callService, type ServiceOptions, withConnection } from '../connection/service-command.ts';
import { deleteEach, eachItem } from '../each-item.ts';
import { CommandError, exitCodes } from '../exit-codes.ts';
import { printResult, say, time } from '../output/print.ts';
import { type ListOptions, printItem, printList, readSeconds, withPages } from '../output/print-items.ts';
import type { DownloadOptions } from './download-file.ts';
import type { UploadNames } from './upload-file.ts';

type FileFilters = ServiceOptions & UploadNames & ListOptions;
type FilesQuery = Parameters<Quartermaster['files']['list']>[0];

/** Uploads, lists, downloads and deletes the files of a project. */
export function filesCommands(): Command {
  const files = new Command('files').description('upload, list, download and delete files of a service');
  const on = (name: string, description: string) =>
    withConnection(files.command(name).description(description), 'files');
  on('upload', 'upload files and print their ids')
    .argument('<paths...>', 'files to upload')
    .option('--purpose <name>', 'purpose of the files (default: by the extension)')
    .option('--name <name>', 'name of the file in the service (default: the name of the path)')
    .action(callService('files', uploadFiles));
  const list = on('list', 'list files, newest first')
    .option('--purpose <name>', 'list only files with this purpose')
    .option('--name <name>', 'list only files with this name');
  withPages(list, 'files').action(callService('files', listFiles));
  on('get', 'print a file and the records that were created from it')
    .argument('<file>', 'id of the file')
    .action(
      callService('files', async (qm, id: string, { json }: ServiceOptions) => printItem(await qm.files.get(id), json)),
    );
  on('wait', 'wait until all records of a file are processed')
    .argument('<file>', 'id of the file')
    .option('--timeout <seconds>', 'give up after this time; 0: never', readSeconds, 600)
    .action(callService('files', waitForFile));
  on('download', 'download a file and compare it with its SHA-256')
    .argument('<file>', 'id of the file')
    .option(
      '--out <path>',
      'file to write; - writes to standard output (default: the name of the file, in this folder)',
    )
    .option('--force', 'replace an existing file')
    .action(async (file: string, options: DownloadOptions) =>
      (await import('./download-file.ts')).downloadFile(file, options),
    );
  on('delete', 'delete files; records that were created from them stay')
    .argument('<files...>', 'ids of the files')
    .action(
      callService('files', async (qm, ids: string[], { json }: ServiceOptions) =>
        deleteEach(ids, { member: 'file_id', json }, (id) => qm.files.delete(id)),
      ),
    );
  return files;
}

/** Prints the id of each uploaded file. */
async function uploadFiles(qm: Quartermaster, paths: string[], options: ServiceOptions & UploadNames): Promise<void> {
  const { uploadFile } = await import('./upload-file.ts');
  if (options.name !== undefined && paths.length > 1)
    throw new CommandError(exitCodes.usage, '--name is allowed for one file only.');
  await eachItem(paths, async (path) => {
    const file = await uploadFile(qm, path, options);
    printResult(options, file, () => say(paths.length === 1 ? file.file_id : `${file.file_id}  ${path}`));
  });
}

async function listFiles(qm: Quartermaster, { purpose, name, ...options }: FileFilters): Promise<void> {
  // The service checks the purpose.
  await printList(options, (page) => qm.files.list({ ...page, purpose, name } as FilesQuery), {
    heads: ['FILE', 'NAME', 'PURPOSE', 'BYTES', 'CREATED'],
    row: (file) => [file.file_id, file.file_name, file.purpose, String(file.bytes), time(file.created_timestamp)],
  });
}

/** Waits for every record of a file. The exit code is 1 when one of them failed. */
async function waitForFile(
  qm: Quartermaster,
  fileId: string,
  { timeout, json }: ServiceOptions & { readonly timeout: number },
): Promise<void> {
  const { waitForRecord } = await import('../records/wait-for-record.ts');
  const { references } = await qm.files.get(fileId);
  if (references.length === 0)
    throw new CommandError(
      exitCodes.failed,
      `No record was created from ${fileId}. Create one with "${commandName} records add".`,
    );
  for (const { collection_id, record_id } of references)
    await waitForRecord(qm, { collectionId: collection_id, recordId: record_id, timeout, json });
}
