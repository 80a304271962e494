import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { commandName } from '@quartermaster/contract/command-name';
import { replaceFile } from '../../platform/disk/replace-file.ts';
import { quoteText } from '../../platform/quote-text.ts';
import { OperatorError, operatorErrorsOf } from '../../platform/server-process/operator-error.ts';
import type { BackupFault } from './backup.ts';

/** This file in a data folder says that a move has copied the store completely. Nothing else in the folder has changed. */
const movedFile = 'moved.json';
/** This file in the data folder of a target lists its blobs. It exists until the move has ended. */
export const moveListFile = 'unfinished-move.jsonl';

export async function markMoved(folder: string, moved: { readonly to: string; readonly at: string }): Promise<void> {
  await replaceFile(join(folder, movedFile), `${JSON.stringify(moved)}\n`, 0o600);
}

/**
 * @param place the target of a move that continues
 * @throws OperatorError when the store of the data folder was moved: two services would change two copies of it
 */
export async function assertNotMoved(folder: string, place?: string): Promise<void> {
  const file = join(folder, movedFile);
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return;
  // This file writes the JSON. A file that is not JSON stops the start.
  const { to, at } = JSON.parse(text) as { to: string; at: string };
  if (to === place) return;
  throw new OperatorError(
    `The store in ${folder} was moved to ${to} at ${at}. Start the service there. To go back to this store, which lacks every change made there, stop the service there and delete ${file}.`,
  );
}

export const { moveFolderUsed, moveTargetUsed, moveEnded, sourceInUse, urlMissing, samePlace } = operatorErrorsOf({
  moveFolderUsed: (folder: string) =>
    `${folder} is not empty, and it does not hold an interrupted move of this store. Nothing was written. Name a new folder with --to-folder.`,
  moveTargetUsed: 'The database of --to-postgres already holds a store. Nothing was written. Name an empty database.',
  moveEnded: (folder: string) =>
    `This move had ended when it was interrupted, and nothing is left to do. Start the service with the data folder ${folder}.`,
  sourceInUse: (node: string, host: string) =>
    `The store is in use by the node ${node} on the host ${host}. Stop every process that uses it. After a crash, wait 15 s. Then run the command again.`,
  urlMissing: (option: string, variable: string) =>
    `${option} needs a URL. Write it after the option, or set ${variable}.`,
  samePlace: (place: string) =>
    `The content of the store is in ${place} already, and both stores would delete objects of each other. Name another bucket or prefix with --to-blobs.`,
});

const mostSamples = 5;

/** Names damaged files of the source. The target is not usable yet, and the next attempt continues it. */
export function sourceDamaged(faults: readonly BackupFault[]): OperatorError {
  const sample = faults.slice(0, mostSamples).map(({ blobId, kind, files: [file] }) => {
    const name = file === undefined ? `blob ${blobId}` : `${quoteText(file.name)} (${file.fileId}, ${blobId})`;
    return `${name}: ${kind.replaceAll('_', ' ')}`;
  });
  const more = faults.length > mostSamples ? ', …' : '';
  return new OperatorError(
    `The content of ${faults.length} files of the source is missing or damaged: ${sample.join(', ')}${more}. The move did not end, and the source is unchanged. Run "${commandName} fsck --hash --repair" on the source, or add --damaged to move everything else. Then run the same command again.`,
  );
}
