import { createHash } from 'node:crypto';
import { type FileHandle, open, rm, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { connect } from '../connection/connection.ts';
import type { ServiceOptions } from '../connection/service-command.ts';
import { CommandError, exitCodes } from '../exit-codes.ts';
import { printable, printJson, say } from '../output/print.ts';
import { createProgressLine, formatShare } from '../output/progress-line.ts';

export interface DownloadOptions extends ServiceOptions {
  readonly out?: string;
  readonly force?: true;
}

/** What the content must be. */
export interface Expected {
  readonly file_name: string;
  readonly bytes: number;
  /** Undefined for content that does not come from the service. */
  readonly sha256: string | undefined;
}

/** Downloads a file. */
export async function downloadFile(fileId: string, options: DownloadOptions): Promise<void> {
  const qm = await connect(options, 'files');
  const file = await qm.files.get(fileId);
  await saveContent(file, () => qm.files.content(fileId), options);
}

/** Downloads an artifact. */
export async function downloadArtifact(artifactId: string, options: DownloadOptions): Promise<void> {
  const qm = await connect(options, 'plugins');
  const artifact = await qm.artifacts.get(artifactId);
  await saveContent(artifact, () => qm.artifacts.download(artifactId), options);
}

/** Writes bytes to a file. Bytes that differ from the size or SHA-256 are deleted, unless they went to standard output. */
async function saveContent(
  file: Expected,
  fetchContent: () => Promise<Response>,
  { out, force, ...options }: DownloadOptions,
): Promise<void> {
  const path = out ?? safeName(file.file_name);
  await writeContent(await fetchContent(), { file, path, force });
  if (path === '-') return;
  if (options.json === true) printJson({ ...file, path });
  else say(path);
}

/** Writes the content of a response to a file; `-` is standard output. */
export async function writeContent(
  { body }: Response,
  { file, path, force }: { readonly file: Expected; readonly path: string; readonly force: true | undefined },
): Promise<void> {
  const content = body ?? new ReadableStream<Uint8Array>({ start: (controller) => controller.close() });
  if (path === '-') {
    for await (const part of checked(content, file)) await write(part);
    return;
  }
  const handle = await openTarget(path, force === true ? 'w' : 'wx');
  try {
    for await (const part of checked(content, file)) await handle.write(part);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
}

/**
 * Opens the file of `--out`.
 * @throws CommandError when its folder is missing, when it is a folder, or when it exists and is not replaced
 */
export async function openTarget(path: string, flags: 'r+' | 'w' | 'wx'): Promise<FileHandle> {
  try {
    return await open(path, flags);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException; // what open throws has a code
    if (code === 'ENOENT') {
      throw new CommandError(exitCodes.notFound, `The folder ${dirname(path)} does not exist. Create it.`);
    }
    if (code !== 'EEXIST' && code !== 'EISDIR') throw error;
    const isFolder = await stat(path).then(
      (found) => found.isDirectory(),
      () => false, // a link to nothing
    );
    const reason = isFolder
      ? 'is a folder. Name a file'
      : 'exists already. Replace it with --force, or name another path';
    throw new CommandError(exitCodes.cannotCreate, `${path} ${reason}.`);
  }
}

/** Returns the name of a file that is created in this folder. The service chose it, so it must not lead elsewhere. */
export function safeName(name: string): string {
  const own = basename(name);
  if (
    own === '' ||
    own !== name ||
    own.startsWith('.') ||
    own.startsWith('-') ||
    printable(own) !== own ||
    own.includes('\\')
  )
    throw new CommandError(
      exitCodes.cannotCreate,
      `The name ${JSON.stringify(name)} is not used for a file in this folder. Name the file with --out.`,
    );
  return own;
}

/** Passes the content on until it is longer than announced, and compares its hash at the end. */
export async function* checked(
  content: AsyncIterable<Uint8Array>,
  { file_name, bytes, sha256 }: Expected,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  const line = createProgressLine();
  let received = 0;
  try {
    for await (const part of content) {
      received += part.byteLength;
      if (received > bytes) break;
      hash.update(part);
      line.show(`${file_name}: ${formatShare(received, bytes)}`);
      yield part;
    }
  } finally {
    line.clear();
  }
  if (received !== bytes || (sha256 !== undefined && hash.digest('hex') !== sha256))
    throw new CommandError(
      exitCodes.internal,
      'The content differs from the size or the SHA-256 that the service names. Download it again.',
    );
}

/** Waits until standard output has taken the bytes. */
function write(part: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) =>
    process.stdout.write(part, (error) => (error === null || error === undefined ? resolve() : reject(error))),
  );
}
