import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleFiles, reportName } from '@quartermaster/importers/bundle-files';
import type { ImportedBundle } from '@quartermaster/importers/openapi';

/**
 * Writes a bundle below a folder and returns the path of its own folder. An existing folder is refused, unless an import wrote it;
 * then its files are replaced.
 * @param more further files, by name
 * @throws Error for an id that no bundle or plugin can have
 */
export async function writeBundle(
  out: string,
  imported: ImportedBundle,
  more: Readonly<Record<string, string>> = {},
): Promise<string> {
  const folder = join(out, imported.bundle.id);
  // All texts are created before the first file, so that a failure leaves no partial bundle behind.
  const files = [...bundleFiles(imported), ...Object.entries(more)];
  await clear(folder);
  await mkdir(folder, { recursive: true });
  for (const [name, text] of files) await writeFile(join(folder, name), text);
  return folder;
}

async function clear(folder: string): Promise<void> {
  const files = await readdir(folder).catch((): string[] => []);
  if (files.length === 0) return;
  if (!files.includes(reportName))
    throw new Error(`${folder} already exists and was not created by an import. Move it away, or choose another id.`);
  for (const file of files) if (file.endsWith('.yaml')) await rm(join(folder, file));
}
