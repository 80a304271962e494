import { Command } from 'commander';
import { withConnection } from '../connection/connection-options.ts';
import { readLimit, readSeconds } from '../output/print-items.ts';
import type { DownloadOptions } from './download-file.ts';
import type { FileFilters, Output, UploadOptions, WaitOptions } from './files-actions.ts';

/** Uploads, lists, downloads and deletes the files of a project. */
export function filesCommands(): Command {
  const files = new Command('files').description('upload, list, download and delete files of a service');
  addUpload(files);
  withConnection(files.command('list').description('list files, newest first'), 'files')
    .option('--purpose <name>', 'list only files with this purpose')
    .option('--name <name>', 'list only files with this name')
    .option('--limit <number>', 'list at most this many files', readLimit, 20)
    .action(async (filters: FileFilters) => (await import('./files-actions.ts')).listFiles(filters));
  withConnection(files.command('get').description('print a file and the records that were created from it'), 'files')
    .argument('<file>', 'id of the file')
    .action(async (file: string, options: Output) => (await import('./files-actions.ts')).getFile(file, options));
  withConnection(files.command('wait').description('wait until all records of a file are processed'), 'files')
    .argument('<file>', 'id of the file')
    .option('--timeout <seconds>', 'give up after this time; 0: never', readSeconds, 600)
    .action(async (file: string, options: WaitOptions) =>
      (await import('./files-actions.ts')).waitForFile(file, options),
    );
  withConnection(files.command('download').description('download a file and compare it with its SHA-256'), 'files')
    .argument('<file>', 'id of the file')
    .option(
      '--out <path>',
      'file to write; - writes to standard output (default: the name of the file, in this folder)',
    )
    .option('--force', 'replace an existing file')
    .action(async (file: string, options: DownloadOptions) =>
      (await import('./download-file.ts')).downloadFile(file, options),
    );
  withConnection(files.command('delete').description('delete files; records that were created from them stay'), 'files')
    .argument('<files...>', 'ids of the files')
    .action(async (ids: string[], options: Output) => (await import('./files-actions.ts')).deleteFiles(ids, options));
  return files;
}

function addUpload(files: Command): void {
  withConnection(files.command('upload').description('upload files and print their ids'), 'files')
    .argument('<paths...>', 'files to upload')
    .option('--purpose <name>', 'purpose of the files (default: by the extension)')
    .option('--name <name>', 'name of the file in the service (default: the name of the path)')
    .action(async (paths: string[], options: UploadOptions) =>
      (await import('./files-actions.ts')).uploadFiles(paths, options),
    );
}
