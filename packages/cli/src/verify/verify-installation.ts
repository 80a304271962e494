import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  compareFiles,
  type Difference,
  hashFile,
  installedList,
  listInstalled,
  listShipped,
  readHashList,
  releaseList,
  shippedPaths,
} from './shipped-files.ts';

export interface Verification {
  /** The origin of the expected hashes: the list of the release, or a commit. */
  readonly source: string;
  /** Number of files that were compared. */
  readonly files: number;
  readonly differences: readonly Difference[];
}

/** Compares the files of an installation with their hashes. @throws Error when there are no hashes */
export async function verifyInstallation(root: string): Promise<Verification> {
  const shipped = (await exists(join(root, '.git'))) ? await verifyClone(root) : await verifyRelease(root);
  // A published package has no lockfile: npm compares its dependencies with the registry (`npm audit signatures`).
  const installed = (await exists(join(root, 'package-lock.json')))
    ? await verifyInstalled(root)
    : { files: 0, differences: [] };
  return {
    source: shipped.source,
    files: shipped.files + installed.files,
    differences: [...shipped.differences, ...installed.differences],
  };
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}

async function verifyRelease(root: string): Promise<Verification> {
  const expected = await readHashList(join(root, releaseList));
  if (expected === undefined) {
    throw new Error(
      `${root} has neither ${releaseList} nor a git repository, so its files cannot be compared. Install a release.`,
    );
  }
  const differences = await compareFiles(await listShipped(root), expected, sameSha256(root));
  return { source: releaseList, files: expected.size, differences };
}

/** Verifies a clone against its commit. The index is not used, because it trusts sizes and times. */
async function verifyClone(root: string): Promise<Verification> {
  const git = async (...args: string[]) => {
    const { stdout } = await promisify(execFile)('git', ['-C', root, ...args], { maxBuffer: 64 * 1024 * 1024 });
    return stdout;
  };
  const commit = await git('rev-parse', 'HEAD');
  const tree = await git('ls-tree', '-r', '-z', 'HEAD', '--', ...shippedPaths);
  const expected = new Map<string, string>();
  for (const entry of tree.split('\0')) {
    const [facts = '', path] = entry.split('\t');
    const [, type, hash] = facts.split(' ');
    if (path !== undefined && type === 'blob' && hash !== undefined) expected.set(path, hash);
  }
  const isSame = async (path: string, hash: string) => {
    const content = await readFile(join(root, path));
    const found = createHash(hash.length === 40 ? 'sha1' : 'sha256')
      .update(`blob ${content.length}\0`)
      .update(content);
    return found.digest('hex') === hash;
  };
  const differences = await compareFiles(await listShipped(root), expected, isSame);
  return { source: `commit ${commit.trim()}`, files: expected.size, differences };
}

/** Verifies the installed packages and the built console. */
async function verifyInstalled(root: string): Promise<Omit<Verification, 'source'>> {
  const expected = await readHashList(join(root, installedList));
  if (expected === undefined) {
    throw new Error(
      `${join(root, installedList)} is missing. "node scripts/set-up.mjs" writes it after an installation.`,
    );
  }
  return {
    files: expected.size,
    differences: await compareFiles(await listInstalled(root), expected, sameSha256(root)),
  };
}

function sameSha256(root: string): (path: string, hash: string) => Promise<boolean> {
  return async (path, hash) => hash.length >= 32 && (await hashFile(join(root, path))).startsWith(hash);
}
