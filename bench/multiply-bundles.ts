import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const wanted = 1_000;

/** Copies the bundles that ship with the product under other ids. Returns the number of their plugins. */
export async function multiplyBundles(folder: string): Promise<number> {
  await mkdir(folder, { recursive: true });
  const own = await readdir('bundles');
  let plugins = 0;
  for (let round = 1; plugins < wanted; round++) {
    for (const id of own) {
      if (plugins >= wanted) break;
      const copy = join(folder, `${id}_${round}`);
      await cp(join('bundles', id), copy, { recursive: true, filter: (path) => !path.includes('/fixtures') });
      const manifest = join(copy, 'bundle.yaml');
      await writeFile(manifest, (await readFile(manifest, 'utf8')).replace(/^id: .*$/m, `id: ${id}_${round}`));
      plugins += (await readdir(copy)).filter((name) => name.endsWith('.yaml')).length - 1;
    }
  }
  return plugins;
}
