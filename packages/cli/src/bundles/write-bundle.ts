import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkId, mergedFiles, reportName } from '@quartermaster/importers/bundle-files';
import type { ImportedBundle } from '@quartermaster/importers/openapi';

/**
 * Writes a bundle below a folder and returns the path of its own folder. An existing folder is refused, unless an import wrote it;
 * then its files are replaced, and edits of them are kept.
 * @param more further files, by name
 * @throws Error for an id that no bundle or plugin can have
 */
export async function writeBundle(
  out: string,
  imported: ImportedBundle,
  more: Readonly<Record<string, string>> = {},
  onChange: (change: string) => void = () => {},
): Promise<string> {
  checkId('bundle', imported.bundle.id);
  const folder = join(out, imported.bundle.id);
  // All texts are created before the first file, so that a failure leaves no partial bundle behind.
  const before = await readEarlier(folder);
  const { files: written, changes } = mergedFiles(before, imported);
  const files = [...written, ...Object.entries(more)];
  for (const change of changes) onChange(change);
  // Manifests of the user stay.
  const { digests } = JSON.parse(before.get(reportName) ?? '{}');
  const old = [...before.keys()].filter((name) => name !== reportName && Object.hasOwn(digests ?? { [name]: 1 }, name));
  for (const file of old) await rm(join(folder, file));
  await mkdir(folder, { recursive: true });
  for (const [name, text] of files) await writeFile(join(folder, name), text);
  return folder;
}

/** The manifests and the report of an earlier import; none in a new folder. */
async function readEarlier(folder: string): Promise<Map<string, string>> {
  const names = await readdir(folder).catch((): string[] => []);
  if (names.length > 0 && !names.includes(reportName))
    throw new Error(`${folder} already exists and was not created by an import. Move it away, or choose another id.`);
  const files = new Map<string, string>();
  for (const name of names.filter((one) => one.endsWith('.yaml') || one === reportName))
    files.set(name, await readFile(join(folder, name), 'utf8'));
  return files;
}
