import { open, rm, stat } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Quartermaster } from '@quartermaster/client';
import type { ExecuteResult, OutputArtifact } from '@quartermaster/contract';
import { CommandError, exitCodes } from '../exit-codes.ts';
import { writeContent } from '../files/download-file.ts';
import { printError } from '../output/print.ts';

/** Fails when the file exists or cannot be created. Leaves nothing behind. */
export async function checkPath(path: string, force: true | undefined): Promise<void> {
  if (path === '-') return;
  const exists = await stat(path).then(
    () => true,
    () => false,
  );
  const handle = await open(path, exists && force === true ? 'r+' : 'wx');
  await handle.close();
  if (!exists) await rm(path);
}

export interface SaveOptions {
  readonly artifacts: Quartermaster['artifacts'];
  /** `-` is standard output. */
  readonly path: string;
  readonly force: true | undefined;
}

/**
 * Writes the picture, document or large text of an output to a file, or the output as JSON when it has none.
 * @returns the artifact that was written
 */
export async function saveOutput(
  { data, artifacts: found = [] }: Pick<ExecuteResult, 'data' | 'artifacts'>,
  { artifacts, path, force }: SaveOptions,
): Promise<OutputArtifact | undefined> {
  const artifact = chooseArtifact(found, path);
  if (artifact === undefined) {
    const json = `${JSON.stringify(data, null, 2)}\n`;
    const file = { file_name: path, bytes: Buffer.byteLength(json), sha256: undefined };
    await writeContent(new Response(json), { file, path, force });
  } else {
    await writeContent(await artifacts.download(artifact.artifact_id), { file: artifact, path, force });
  }
  if (path !== '-') printError(`Written to ${path}: ${artifact?.file_name ?? 'the output as JSON'}`);
  return artifact;
}

/** The only artifact, or the first one with the extension of the file. Undefined without artifacts. */
function chooseArtifact(found: readonly OutputArtifact[], path: string): OutputArtifact | undefined {
  const ids = new Set(found.map(({ artifact_id }) => artifact_id));
  if (ids.size <= 1) return found[0];
  const artifact = found.find(({ file_name: name }) => extname(name) === extname(path).toLowerCase());
  if (artifact !== undefined) return artifact;
  const names = found.map(({ artifact_id: id, file_name: name }) => `${id} (${name})`).join(', ');
  throw new CommandError(
    exitCodes.cannotCreate,
    `The output has ${ids.size} files, and none has the extension of ${path}. Use artifacts download for one of them: ${names}`,
  );
}
