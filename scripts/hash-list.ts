// Writes the lists that `quartermaster verify` compares with. `node scripts/hash-list.ts` writes the list of a release
// (hashes.json). set-up.mjs uses two options: `--installed` writes the list of the installed packages and of what is
// built, and `--built` updates what is built in that list.
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  builtFolders,
  hashFiles,
  installedList,
  listInstalled,
  listShipped,
  readHashList,
  releaseList,
  writeHashList,
} from '../packages/cli/src/verify/shipped-files.ts';

const [which] = process.argv.filter((word) => word === '--installed' || word === '--built');
const root = resolve(process.argv.slice(2).find((word) => !word.startsWith('--')) ?? '.');
const list = which === undefined ? releaseList : installedList;
const before = which === '--built' ? await readHashList(join(root, list)) : undefined;
const isBuilt = (path: string) => builtFolders.some((folder) => path.startsWith(`${folder}/`));
const all = which === undefined ? await listShipped(root) : await listInstalled(root);
const hashes = await hashFiles(root, before === undefined ? all : all.filter(isBuilt));
const remaining = [...(before ?? [])].filter(([path]) => !isBuilt(path));
await writeFile(
  join(root, list),
  writeHashList(new Map([...remaining, ...hashes].sort(([a], [b]) => (a < b ? -1 : 1)))),
);
console.log(`${list}: ${remaining.length + hashes.size} files`);
