import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Quartermaster } from '@quartermaster/client';
import { CommandError, exitCodes } from '../exit-codes.ts';
import { createProgressLine, formatShare } from '../output/progress-line.ts';

export interface UploadNames {
  readonly purpose?: string;
  readonly name?: string;
}

type FileUpload = Parameters<Quartermaster['files']['upload']>[1];

/** Uploads a file with its progress. The service checks the purpose. */
export async function uploadFile(qm: Quartermaster, path: string, { purpose, name }: UploadNames) {
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
