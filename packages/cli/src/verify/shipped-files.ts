import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** SHA-256 in hexadecimal, or its first 128 bits, by path from the root of an installation. */
export type HashList = ReadonlyMap<string, string>;

/** One difference between two installations. Comparisons return them sorted by path. */
export interface Difference {
  readonly kind: 'changed' | 'missing' | 'added';
  readonly path: string;
}

/** The list of hashes that a release contains. */
export const releaseList = 'hashes.json';
/** The list of hashes that the set-up writes after npm has compared each package with the lockfile. */
export const installedList = 'node_modules/.hashes.json';
/** What the set-up builds: the console and the bundle of the service. */
export const builtFolders = ['packages/console/dist', 'packages/server/dist'] as const;
/** The types of the client, which the set-up generates. They are never executed. */
const generatedTypes = 'packages/client/src/generated';

/** The folders and files of the product that are executed, without the installed packages. */
export const shippedPaths = ['bundles', 'packages', 'scripts', 'package.json', 'package-lock.json', '.npmrc'];

/** The paths of all files at or below a path, relative to the root. Empty when the path does not exist. */
export async function filesBelow(root: string, path: string, skip: (path: string) => boolean): Promise<string[]> {
  const entries = await readdir(join(root, path), { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOTDIR') return undefined;
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  if (entries === undefined) return [path];
  const found: string[] = [];
  for (const entry of entries) {
    const child = `${path}/${entry.name}`;
    if (skip(child)) continue;
    if (entry.isDirectory()) found.push(...(await filesBelow(root, child, skip)));
    else found.push(child);
  }
  return found;
}

/** Lists source files and bundles, without installed packages and what is built. */
export async function listShipped(root: string): Promise<string[]> {
  const skip = (path: string) =>
    path.endsWith('/node_modules') || [...builtFolders, generatedTypes].some((one) => one === path);
  const lists = await Promise.all(shippedPaths.map((path) => filesBelow(root, path, skip)));
  return lists.flat().sort();
}

/** Lists what is built, and the production packages of the lockfile. */
export async function listInstalled(root: string): Promise<string[]> {
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as Lockfile;
  const packages = Object.entries(lock.packages).filter(
    ([path, { dev, link }]) => path.includes('node_modules/') && dev !== true && link !== true,
  );
  const lists: string[][] = [];
  for (const folder of builtFolders) lists.push(await filesBelow(root, folder, () => false));
  // A nested package has its own entry.
  for (const [path] of packages) lists.push(await filesBelow(root, path, (child) => child.endsWith('/node_modules')));
  return [...new Set(lists.flat())].sort();
}

interface Lockfile {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly link?: boolean }>>;
}

/** Half of each hash, which keeps the archive of a release small, and is enough against another file with the same half. */
export async function hashFiles(root: string, paths: readonly string[]): Promise<HashList> {
  const hashes = new Map<string, string>();
  for (const path of paths) hashes.set(path, (await hashFile(join(root, path))).slice(0, 32));
  return hashes;
}

export async function hashFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

export function writeHashList(hashes: HashList): string {
  return `${JSON.stringify({ algorithm: 'sha256', files: Object.fromEntries(hashes) }, null, 1)}\n`;
}

/** Undefined when the list does not exist. */
export async function readHashList(file: string): Promise<HashList | undefined> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const { algorithm, files } = JSON.parse(text) as { algorithm?: unknown; files?: Record<string, string> };
  if (algorithm !== 'sha256' || files === undefined) throw new Error(`${file} is not a list of hashes.`);
  return new Map(Object.entries(files));
}

/** Compares existing with expected files. @param isSame whether a file has the expected content */
export async function compareFiles(
  present: readonly string[],
  expected: ReadonlyMap<string, string>,
  isSame: (path: string, hash: string) => Promise<boolean>,
): Promise<Difference[]> {
  const found: Difference[] = [];
  const there = new Set(present);
  for (const path of there) if (!expected.has(path)) found.push({ kind: 'added', path });
  for (const [path, hash] of expected) {
    if (!there.has(path)) found.push({ kind: 'missing', path });
    else if (!(await isSame(path, hash))) found.push({ kind: 'changed', path });
  }
  return found.sort((a, b) => (a.path < b.path ? -1 : 1));
}
