import { chmod, copyFile, cp, link, mkdir, mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import type { TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { isReadableByAll } from '../../../../platform/processes/isolation/probe.ts';

/**
 * Files that run handlers, in a place that every user can read. An ordinary user cannot read a checkout in a closed
 * folder.
 */
export interface ReadableCopy {
  readonly node: string;
  /** Returns the URL of a module of the server as a JavaScript literal. `path` is relative to its `src`. */
  url(path: string): string;
}

const root = resolve(import.meta.dirname, '../../../../../../..');
interface More {
  readonly sources: readonly string[];
  readonly packages: readonly string[];
}

/** The folders of the server that the sandbox imports. */
const sources = ['platform', 'tools/execution/sandbox'];
/** The packages that the sandbox imports. */
const packages = ['pino', 'prom-client'];

/**
 * Creates a copy that is removed after the test.
 * @param more additional folders of the server and packages
 */
export async function createReadableCopy(t: TestContext, more?: More): Promise<ReadableCopy> {
  if ((await isReadableByAll(import.meta.dirname)) && (await isReadableByAll(process.execPath))) return original;
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'quartermaster-copy-')));
  t.after(() => rm(folder, { recursive: true }));
  const server = join(folder, 'packages', 'server');
  await mkdir(server, { recursive: true });
  await copyFile(join(root, 'packages/server/package.json'), join(server, 'package.json'));
  for (const source of [...sources, ...(more?.sources ?? [])]) {
    await cp(join(root, 'packages/server/src', source), join(server, 'src', source), { recursive: true });
  }
  for (const name of await withDependencies([...packages, ...(more?.packages ?? [])])) {
    await cp(join(root, 'node_modules', name), join(folder, 'node_modules', name), { recursive: true });
  }
  const node = join(folder, basename(process.execPath));
  // Links the file where the file system can, because it has a hundred megabytes.
  await link(process.execPath, node).catch(() => copyFile(process.execPath, node));
  await chmod(folder, 0o755);
  return { node, url: (path) => JSON.stringify(pathToFileURL(join(server, 'src', path)).href) };
}

/** The checkout itself, if every user can read it. */
const original: ReadableCopy = {
  node: process.execPath,
  url: (path) => JSON.stringify(pathToFileURL(join(root, 'packages/server/src', path)).href),
};

async function withDependencies(names: readonly string[]): Promise<ReadonlySet<string>> {
  const found = new Set(names);
  for (const name of found) {
    const manifest = JSON.parse(await readFile(join(root, 'node_modules', name, 'package.json'), 'utf8'));
    for (const dependency of Object.keys(manifest.dependencies ?? {})) found.add(dependency);
  }
  return found;
}
