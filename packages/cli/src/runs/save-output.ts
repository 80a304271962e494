import { rm, stat } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Quartermaster } from '@quartermaster/client';
import type { ExecuteResult, OutputArtifact } from '@quartermaster/contract';
import { CommandError, exitCodes } from '../exit-codes.ts';
import { openTarget, writeContent } from '../files/download-file.ts';
import { printError } from '../output/print.ts';
import { findInlineMedia, isMediaExtension } from './inline-media.ts';

/** Fails when the file exists or cannot be created. Leaves nothing behind. */
export async function checkPath(path: string, force: true | undefined): Promise<void> {
  if (path === '-') return;
  const exists = await stat(path).then(
    () => true,
    () => false,
  );
  const handle = await openTarget(path, exists && force === true ? 'r+' : 'wx');
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
 * @throws CommandError when the extension names a format and the output has no content of it
 */
export async function saveOutput(
  { data, artifacts: found = [] }: Pick<ExecuteResult, 'data' | 'artifacts'>,
  { artifacts, path, force }: SaveOptions,
): Promise<OutputArtifact | undefined> {
  const artifact = chooseArtifact(found, path);
  if (artifact === undefined) {
    const content = contentOf(data, path);
    const file = { file_name: path, bytes: content.byteLength, sha256: undefined };
    await writeContent(new Response(content), { file, path, force });
  } else {
    await writeContent(await download(artifact, artifacts), { file: artifact, path, force });
  }
  if (path !== '-') printError(`Written to ${path}: ${artifact?.file_name ?? describeContent(path)}`);
  return artifact;
}

/** The content of an output without artifacts: the picture or document in it that the extension names, or its JSON. */
function contentOf(data: unknown, path: string): Buffer<ArrayBuffer> {
  const extension = extname(path).toLowerCase();
  if (!isMediaExtension(extension)) return Buffer.from(`${JSON.stringify(data, null, 2)}\n`);
  const found = findInlineMedia(data, extension);
  if (found !== undefined) return found;
  throw new CommandError(
    exitCodes.cannotCreate,
    `The output has no ${extension} content, so ${path} was not written. Standard output has the output as JSON.`,
  );
}

function describeContent(path: string): string {
  return isMediaExtension(extname(path).toLowerCase())
    ? `a ${extname(path).toLowerCase()} file in the output`
    : 'the output as JSON';
}

/** Without a key, an artifact has no id but its signed URL. */
async function download(
  { artifact_id: id, file_url: url }: OutputArtifact,
  artifacts: SaveOptions['artifacts'],
): Promise<Response> {
  return id === '' ? await fetch(url) : await artifacts.download(id);
}

/** The first artifact with the extension of the file, or the only one. Undefined where the output is written as JSON. */
function chooseArtifact(found: readonly OutputArtifact[], path: string): OutputArtifact | undefined {
  const extension = extname(path).toLowerCase();
  const artifact = found.find(({ file_name: name }) => extname(name) === extension);
  if (artifact !== undefined) return artifact;
  const urls = new Set(found.map(({ file_url }) => file_url));
  if (urls.size <= 1 && extension !== '.json') return found[0];
  if (!isMediaExtension(extension)) return undefined;
  const names = found.map(({ artifact_id: id, file_name: name }) => (id === '' ? name : `${id} (${name})`)).join(', ');
  throw new CommandError(
    exitCodes.cannotCreate,
    `The output has ${urls.size} files, and none has the extension of ${path}. Use artifacts download for one of them: ${names}`,
  );
}
