import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Writes the files of a bundle into `folder/id`. `more` are members of `bundle.yaml` besides those that every bundle
 * has. Returns the folder of bundles.
 */
export async function writeBundle(
  folder: string,
  id: string,
  { more = 'hosts: []', ...files }: Readonly<Record<string, string>>,
): Promise<string> {
  await mkdir(join(folder, id), { recursive: true });
  const about = `id: ${id}\nversion: 1.0.0\nname: ${id}\ndescription: A bundle of a test.\nprovider: Example\ndeveloper: Quartermaster\n${more}\n`;
  for (const [name, text] of Object.entries({ 'bundle.yaml': about, ...files })) {
    await writeFile(join(folder, id, name), text);
  }
  return folder;
}
