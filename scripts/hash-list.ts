// Writes the lists that `quartermaster verify` compares with. `node scripts/hash-list.ts` writes the list of a release
// (hashes.json). set-up.mjs uses two options: `--installed` writes the list of the installed packages and the built
// console, and `--console` updates the console in that list.
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  builtConsole,
  hashFiles,
  installedList,
  listInstalled,
  listShipped,
  readHashList,
  releaseList,
  writeHashList,
} from '../packages/cli/src/verify/shipped-files.ts';

const [which] = process.argv.filter((word) => word === '--installed' || word === '--console');
const root = resolve(process.argv.slice(2).find((word) => !word.startsWith('--')) ?? '.');
const list = which === undefined ? releaseList : installedList;
const before = which === '--console' ? await readHashList(join(root, list)) : undefined;
const isOfConsole = (path: string) => path.startsWith(`${builtConsole}/`);
const all = which === undefined ? await listShipped(root) : await listInstalled(root);
const hashes = await hashFiles(root, before === undefined ? all : all.filter(isOfConsole));
const remaining = [...(before ?? [])].filter(([path]) => !isOfConsole(path));
await writeFile(
  join(root, list),
  writeHashList(new Map([...remaining, ...hashes].sort(([a], [b]) => (a < b ? -1 : 1)))),
);
console.log(`${list}: ${remaining.length + hashes.size} files`);
