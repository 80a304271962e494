import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { mapWithConcurrency } from '../../platform/concurrency/map-with-concurrency.ts';
import { sha256, writeContents } from './contents.ts';
import { readSignatureFile, signatureFileName } from './version-folder.ts';

/** The maximum number of concurrent file hashes. Each file has at most 8 MiB, so a hash takes a few milliseconds. */
const filesAtOnce = 4;

/**
 * Finds files of an installed version that were changed, removed or added, by path. The folder is named after the digest of the
 * archive, so the list of hashes is verified as well.
 * @param version the folder of the version
 */
export async function findChangedFiles(version: string): Promise<readonly string[]> {
  const installed = await readSignatureFile(version);
  const [digest = ''] = basename(version).split('.');
  if (installed === undefined || sha256(writeContents(installed.contents)) !== digest) return [signatureFileName];
  const root = join(version, installed.bundleId);
  const expected = new Map(installed.contents.files.map((file) => [file.path, file.sha256]));
  const changed = new Set(await pathsBelow(root));
  for (const path of expected.keys()) changed.add(path);
  await mapWithConcurrency([...expected], filesAtOnce, async ([path, digestOfFile]) => {
    const content = await readFile(join(root, path)).catch(() => undefined);
    if (content !== undefined && sha256(content) === digestOfFile) changed.delete(path);
  });
  return [...changed].sort();
}

async function pathsBelow(root: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'));
}

/**
 * The error that the catalogue reports for a changed bundle; null when it is unchanged. @param folder the bundle's folder, without
 * links
 */
export async function describeChange(folder: string): Promise<string | null> {
  const changed = await findChangedFiles(dirname(folder)).catch(() => ['(unreadable)']);
  if (changed.length === 0) return null;
  const names = changed.slice(0, 5).join(', ');
  const more = changed.length > 5 ? ` and ${changed.length - 5} more` : '';
  return `The installed bundle is not offered, because files differ from its archive: ${names}${more}. Remove it and install it again.`;
}
