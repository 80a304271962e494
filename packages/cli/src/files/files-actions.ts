import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Quartermaster } from '@quartermaster/client';
import { commandName } from '@quartermaster/contract/command-name';
import { type ConnectionOptions, connect } from '../connection/connection.ts';
import { eachItem } from '../each-item.ts';
import { CommandError, exitCodes } from '../exit-codes.ts';
import { printJson, say, time } from '../output/print.ts';
import { pageSize, printItem, printItems } from '../output/print-items.ts';
import { createProgressLine, formatShare } from '../output/progress-line.ts';
import { waitForRecord } from '../records/wait-for-record.ts';

export interface Output extends ConnectionOptions {
  readonly json?: true;
}

export interface UploadOptions extends Output {
  readonly purpose?: string;
  readonly name?: string;
}

export interface FileFilters extends Output {
  readonly purpose?: string;
  readonly name?: string;
  readonly limit: number;
}

export interface WaitOptions extends Output {
  /** Seconds; 0: no limit. */
  readonly timeout: number;
}

type FileUpload = Parameters<Quartermaster['files']['upload']>[1];
type FilesQuery = Parameters<Quartermaster['files']['list']>[0];

/** Uploads a file with its progress. The service checks the purpose. */
export async function uploadFile(qm: Quartermaster, path: string, { purpose, name }: Omit<UploadOptions, 'json'>) {
  if ((await stat(path)).isDirectory()) throw new CommandError(exitCodes.notFound, `${path} is a folder. Name a file.`);
  const line = createProgressLine();
  const fileName = name ?? basename(path);
  try {
    return await qm.files.upload(path, {
      name: fileName,
      purpose: purpose as NonNullable<FileUpload>['purpose'],
      onProgress: ({ sentBytes, totalBytes }) => line.show(`${fileName}: ${formatShare(sentBytes, totalBytes)}`),
    });
  } finally {
    line.clear();
  }
}

/** Prints the id of each uploaded file. */
export async function uploadFiles(paths: readonly string[], options: UploadOptions): Promise<void> {
  if (options.name !== undefined && paths.length > 1)
    throw new CommandError(exitCodes.usage, '--name is allowed for one file only.');
  const qm = await connect(options, 'files');
  await eachItem(paths, async (path) => {
    const file = await uploadFile(qm, path, options);
    if (options.json === true) printJson(file);
    else say(paths.length === 1 ? file.file_id : `${file.file_id}  ${path}`);
  });
}

export async function listFiles({ purpose, name, limit, ...options }: FileFilters): Promise<void> {
  const qm = await connect(options, 'files');
  const query = { purpose, name, limit: pageSize(limit) } as FilesQuery; // the service checks the purpose
  await printItems(qm.files.list(query), {
    json: options.json,
    limit,
    count: () => qm.files.list({ ...query, limit: 1, count: true }),
    heads: ['FILE', 'NAME', 'PURPOSE', 'BYTES', 'CREATED'],
    row: (file) => [file.file_id, file.file_name, file.purpose, String(file.bytes), time(file.created_timestamp)],
  });
}

export async function getFile(fileId: string, options: Output): Promise<void> {
  const qm = await connect(options, 'files');
  printItem(await qm.files.get(fileId), options.json);
}

/** Waits for every record of a file. The exit code is 1 when one of them failed. */
export async function waitForFile(fileId: string, { timeout, ...options }: WaitOptions): Promise<void> {
  const qm = await connect(options, 'files');
  const { references } = await qm.files.get(fileId);
  if (references.length === 0)
    throw new CommandError(
      exitCodes.failed,
      `No record was created from ${fileId}. Create one with "${commandName} records add".`,
    );
  for (const { collection_id, record_id } of references)
    await waitForRecord(qm, { collectionId: collection_id, recordId: record_id, timeout, json: options.json });
}

export async function deleteFiles(fileIds: readonly string[], options: Output): Promise<void> {
  const qm = await connect(options, 'files');
  await eachItem(fileIds, async (fileId) => {
    await qm.files.delete(fileId);
    if (options.json === true) printJson({ file_id: fileId, deleted: true });
  });
}
