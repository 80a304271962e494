import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { checkId } from '../bundles/check-id.ts';
import type { ImportedBundle } from './import-openapi.ts';

/**
 * Writes a bundle below a folder and returns the path of its own folder. An existing folder is refused, unless an import wrote it;
 * then its files are replaced.
 * @param more further files, by name
 * @throws Error for an id that no bundle or plugin can have
 */
export async function writeBundle(
  out: string,
  { bundle, plugins, report }: ImportedBundle,
  more: Readonly<Record<string, string>> = {},
): Promise<string> {
  checkId('bundle', bundle.id);
  for (const id of plugins.keys()) checkId('plugin', id);
  const folder = join(out, bundle.id);
  // All texts are created before the first file, so that a failure leaves no partial bundle behind.
  const files = new Map([
    ['bundle.yaml', toYaml(bundle)],
    ...[...plugins].map(([id, plugin]): [string, string] => [`${id}.yaml`, toYaml(plugin)]),
    [reportName, `${JSON.stringify(report, null, 2)}\n`],
    ...Object.entries(more),
  ]);
  await clear(folder);
  await mkdir(folder, { recursive: true });
  for (const [name, text] of files) await writeFile(join(folder, name), text);
  return folder;
}

const reportName = 'import-report.json';

async function clear(folder: string): Promise<void> {
  const files = await readdir(folder).catch((): string[] => []);
  if (files.length === 0) return;
  if (!files.includes(reportName))
    throw new Error(`${folder} already exists and was not created by an import. Move it away, or choose another id.`);
  for (const file of files) if (file.endsWith('.yaml')) await rm(join(folder, file));
}

function toYaml(value: unknown): string {
  return stringify(value, { lineWidth: 120, aliasDuplicateObjects: false });
}
