import { createHash } from 'node:crypto';
import { lstat, readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { mapWithConcurrency } from '../../../platform/concurrency/map-with-concurrency.ts';
import type { BundleFailure } from '../catalogue.ts';
import { errorCode } from '../manifest/plain-file.ts';
import { wholeFile } from '../schema/error-collector.ts';

/** A folder that may be a bundle. */
export interface BundleFolder {
  readonly name: string;
  readonly path: string;
  /** Changes when anything in the folder changes. */
  readonly stamp: string;
  /** Size of its YAML files in bytes, which determines the cost of reading it. */
  readonly yamlBytes: number;
}

export interface BundleFolders {
  /** Sorted by the order of the folders that hold them, then by name. */
  readonly folders: readonly BundleFolder[];
  /** Bundle folders that cannot be read. */
  readonly failures: readonly BundleFailure[];
  /** The stamp of all folders together. */
  readonly stamp: string;
}

/** Concurrent calls of the file system. More of them bring no speed. */
export const atOnce = 8;

/** Lists the bundle folders without reading a file: it reads names, sizes and times only. */
export async function findBundleFolders(roots: readonly string[]): Promise<BundleFolders> {
  const folders: BundleFolder[] = [];
  const failures: BundleFailure[] = [];
  for (const root of roots) {
    const look = async (name: string) => {
      const path = join(root, name);
      return { name, path, ...(await lookAt(path)) };
    };
    folders.push(...(await mapWithConcurrency(await listNames(root, failures), atOnce, look)));
  }
  const stamp = digest([...folders.map(({ path, stamp }) => `${path}\n${stamp}`), ...failures.map(textOf)]);
  return { folders, failures, stamp };
}

function textOf({ message }: BundleFailure): string {
  return message;
}

async function listNames(root: string, failures: BundleFailure[]): Promise<string[]> {
  try {
    const entries = await readdir(root, { withFileTypes: true });
    const candidates = entries.filter((entry) => entry.isDirectory() || entry.isSymbolicLink());
    return candidates
      .map((entry) => entry.name)
      .filter((name) => !name.startsWith('.') && name !== 'node_modules')
      .sort();
  } catch (error) {
    const message = `The folder of bundles ${root} cannot be read (${errorCode(error)}).`;
    failures.push({ file: '.', line: null, field: wholeFile, message });
    return [];
  }
}

/** The stamp covers size, times and identity of each file, and the folder that a link leads to. */
async function lookAt(path: string): Promise<Pick<BundleFolder, 'stamp' | 'yamlBytes'>> {
  try {
    const folder = await realpath(path);
    const entries = await readdir(folder, { withFileTypes: true });
    const names = entries.map(({ name }) => name).filter((name) => !name.startsWith('.'));
    let yamlBytes = 0;
    const factsOf = async (name: string) => {
      const { size, mtimeMs, ctimeMs, ino } = await lstat(join(folder, name));
      if (name.endsWith('.yaml')) yamlBytes += size;
      return `${name} ${size} ${mtimeMs} ${ctimeMs} ${ino}`;
    };
    return { stamp: digest([folder, ...(await Promise.all(names.sort().map(factsOf)))]), yamlBytes };
  } catch (error) {
    return { stamp: errorCode(error), yamlBytes: 0 };
  }
}

function digest(parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('base64url');
}
