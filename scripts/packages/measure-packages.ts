import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installInto } from '../../test/support/packed-archives.ts';
import { type Ending, startService } from '../../test/support/service.ts';
import { buildPython, installPython } from './build-python.ts';

const run = promisify(execFile);
const platform = `${process.platform}-${process.arch}`;
const oldNode = '20.20.2';

/** One line of the report. */
type Figure = readonly [what: string, figure: string];

interface Places {
  readonly t: Ending;
  /** Holds the archives. */
  readonly archives: string;
  /** An empty folder outside of the repository. */
  readonly work: string;
}

/**
 * Installs the archives into empty folders, starts the service and runs the story of a release with each client. Prints sizes and seconds.
 * @param archives the folder that holds the archives
 */
export async function measurePackages(root: string, archives: string): Promise<void> {
  const ends: Array<() => unknown> = [];
  const work = await mkdtemp(join(tmpdir(), 'quartermaster-measure-'));
  const t: Ending = { after: (end) => ends.push(end) };
  t.after(() => rm(work, { recursive: true, force: true }));
  try {
    const places = { t, archives, work };
    const sizes = await measureArchives(archives);
    const python = await measurePython(root, places);
    const server = await installServer(places);
    const stories = await runStories(places, server.launcher);
    print([...sizes, ...python, ...server.figures, ...stories]);
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

async function measureArchives(archives: string): Promise<Figure[]> {
  const names = (await readdir(archives)).filter((name) => name.endsWith('.tgz')).sort();
  return Promise.all(names.map(async (name) => [`\`${name}\``, kib(await stat(join(archives, name)))] as const));
}

async function measurePython(root: string, { work }: Places): Promise<Figure[]> {
  const { wheel, source } = await buildPython(root, join(work, 'python'));
  const [, seconds] = await timed(() => installPython([wheel], join(work, 'modules')));
  return [
    [`\`${wheel.split('/').at(-1)}\``, kib(await stat(wheel))],
    [`\`${source.split('/').at(-1)}\``, kib(await stat(source))],
    ['Python client, installed', `${seconds} s`],
  ];
}

async function installServer({ archives, work }: Places) {
  const folder = join(work, 'server');
  const [, seconds] = await timed(async () => installInto(folder, [await findArchive(archives, 'quartermaster-0')]));
  const { stdout } = await run('du', ['-sk', folder]);
  const figures: Figure[] = [
    ['`quartermaster`, installed', `${(Number.parseInt(stdout, 10) / 1024).toFixed(1)} MiB, ${seconds} s`],
  ];
  return { launcher: join(folder, 'node_modules/quartermaster/bin/quartermaster.cjs'), figures };
}

/** Runs the story with each client against one installed service. */
async function runStories({ t, archives, work }: Places, launcher: string): Promise<Figure[]> {
  const folder = join(work, 'client');
  const packages = [await findArchive(archives, 'quartermaster-client'), `node-${platform}@${oldNode}`];
  await installInto(folder, packages);
  for (const name of ['story.mjs', 'story.py']) await copyFile(join(import.meta.dirname, name), join(folder, name));
  const old = join(folder, `node_modules/node-${platform}/bin/node`);
  const [exit, refusal] = await timed(() => run(old, [launcher, 'start']).catch(({ code }: { code: number }) => code));
  const [service, start] = await timed(() => startService(t, { program: [launcher, 'start'] }));
  const env = { PATH: process.env.PATH, QM_URL: service.filesUrl, QM_API_KEY: service.key };
  const modules = { PYTHONPATH: join(work, 'modules'), PYTHONDONTWRITEBYTECODE: '1' };
  const tell = async (program: string, file: string) =>
    (await timed(() => run(program, [file], { cwd: folder, env: { ...env, ...modules } })))[1];
  const { stdout: version } = await run('/usr/bin/python3', ['--version']);
  return [
    [`Node.js ${oldNode}: the launcher names the remedy`, `exit code ${exit}, ${refusal} s`],
    [`Node.js ${process.versions.node}: start until both addresses accept requests`, `${start} s`],
    [`Node.js ${process.versions.node}: first story`, `${await tell(process.execPath, 'story.mjs')} s`],
    [`Node.js ${process.versions.node}: second story`, `${await tell(process.execPath, 'story.mjs')} s`],
    [`Node.js ${oldNode}: story`, `${await tell(old, 'story.mjs')} s`],
    [`${version.trim()}: story`, `${await tell('/usr/bin/python3', 'story.py')} s`],
  ];
}

async function findArchive(archives: string, prefix: string): Promise<string> {
  const name = (await readdir(archives)).find((one) => one.startsWith(prefix) && one.endsWith('.tgz'));
  if (name === undefined) throw new Error(`${archives} has no archive ${prefix}…`);
  return join(archives, name);
}

async function timed<Result>(work: () => Promise<Result>): Promise<readonly [Result, seconds: string]> {
  const began = performance.now();
  const result = await work();
  return [result, ((performance.now() - began) / 1000).toFixed(1)];
}

const kib = ({ size }: { readonly size: number }) => `${(size / 1024).toFixed(1)} KiB`;

function print(figures: readonly Figure[]): void {
  console.log(`\n| what | measured, load ${loadavg()[0]?.toFixed(1)} |\n|---|---|`);
  for (const [what, figure] of figures) console.log(`| ${what} | ${figure} |`);
}
