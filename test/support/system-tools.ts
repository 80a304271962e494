import { execFile } from 'node:child_process';
import { accessSync, constants, readdirSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A system program that tests start. */
export interface Tool {
  /** The name of its Debian package. */
  readonly name: string;
  /** A file that the package installs; for most, the program that tests start. */
  readonly file: string;
}

const oldestPostgres = 15;
const postgresFolder = '/usr/lib/postgresql';
/** Where Debian's packages install modules of Python. */
const pythonModules = '/usr/lib/python3/dist-packages';

/** The system programs that tests need. */
export const tools = [
  { name: 'postgresql', file: postgresFolder },
  { name: 'chromium', file: '/usr/bin/chromium' },
  { name: 'bubblewrap', file: '/usr/bin/bwrap' },
  // The tour of README.md and the guides shorten their answers with it.
  { name: 'jq', file: '/usr/bin/jq' },
  // For network namespaces in which tests try forbidden addresses.
  { name: 'iproute2', file: '/sbin/ip' },
  // Compiles the library that lets the disk of a service fail.
  { name: 'gcc', file: '/usr/bin/gcc' },
  { name: 'libc6-dev', file: '/usr/include/dlfcn.h' },
  // For the Python client: its only dependency, and the tools that build and install its wheel and check its types.
  { name: 'python3-httpx', file: `${pythonModules}/httpx` },
  { name: 'python3-pip', file: `${pythonModules}/pip` },
  { name: 'python3-setuptools', file: `${pythonModules}/setuptools` },
  { name: 'python3-wheel', file: `${pythonModules}/wheel` },
  { name: 'mypy', file: '/usr/bin/mypy' },
  // For the example in curl.
  { name: 'curl', file: '/usr/bin/curl' },
  // The second readers of documents of the corpus.
  { name: 'poppler-utils', file: '/usr/bin/pdftotext' },
  { name: 'pandoc', file: '/usr/bin/pandoc' },
  // Reads scanned pages. The package brings the data of English and of the orientation of pages.
  { name: 'tesseract-ocr', file: '/usr/bin/tesseract' },
  // For pages in a script that no setting names.
  { name: 'tesseract-ocr-rus', file: '/usr/share/tesseract-ocr/5/tessdata/rus.traineddata' },
  // For the completion scripts of the command line.
  { name: 'zsh', file: '/usr/bin/zsh' },
  { name: 'fish', file: '/usr/bin/fish' },
  // The proxy in front of several nodes, and `promtool`, which checks the alert rules.
  { name: 'haproxy', file: '/usr/sbin/haproxy' },
  { name: 'prometheus', file: '/usr/bin/promtool' },
  { name: 'pgbouncer', file: '/usr/sbin/pgbouncer' },
  { name: 'nginx', file: '/usr/sbin/nginx' },
  { name: 'caddy', file: '/usr/bin/caddy' },
  // Builds the container image on a base that needs no image registry.
  { name: 'buildah', file: '/usr/bin/buildah' },
  { name: 'debootstrap', file: '/usr/sbin/debootstrap' },
  { name: 'systemd', file: '/usr/bin/systemd-analyze' },
] as const satisfies readonly Tool[];

export type ToolName = (typeof tools)[number]['name'];

/** The programs that `npm run proof` needs: a compiler for its recorder, and a settable clock. */
export const proofTools: readonly Tool[] = [
  ...toolsNamed('gcc', 'libc6-dev'),
  { name: 'diffutils', file: '/usr/bin/diff' },
  { name: 'faketime', file: '/usr/bin/faketime' },
];

export function toolsNamed(...names: readonly ToolName[]): readonly Tool[] {
  return tools.filter(({ name }) => names.includes(name));
}

/** Returns the folder of PostgreSQL's programs: the newest of Debian's folders, or one on the PATH. */
export function findPostgres(): string | undefined {
  const versions = exists(postgresFolder) ? readdirSync(postgresFolder).map(Number) : [];
  const newest = versions.sort((a, b) => b - a).find((version) => version >= oldestPostgres);
  if (newest !== undefined) return join(postgresFolder, String(newest), 'bin');
  return folderOnPath('initdb');
}

export function isInstalled({ name, file }: Tool): boolean {
  return name === 'postgresql' ? findPostgres() !== undefined : exists(file);
}

/** @throws Error with the command that installs the missing tools. `npm test` counts such a test as one that needs them */
export function requireTools(needed: readonly Tool[]): void {
  const missing = needed.filter((tool) => !isInstalled(tool));
  if (missing.length > 0) throw new Error(`This needs ${listNames(missing)}. Run: ${installCommand(missing)}`);
}

/** Returns the names of the missing tools because of which a test failed, as its error message tells; none for other failures. */
export function missingToolsIn(message: string): readonly string[] {
  const [, listed] = /^This needs ([\w, -]+)\. Run: /.exec(message) ?? [];
  if (listed !== undefined) return listed.split(', ');
  const [, started = ''] = /^spawn(?:Sync)? (\S+) ENOENT/.exec(message) ?? [];
  const tool = tools.find(({ file }) => basename(file) === basename(started));
  return tool === undefined || isInstalled(tool) ? [] : [tool.name];
}

/** Installs the missing tools with apt-get, as root on Debian. */
export async function installTools(wanted: readonly Tool[]): Promise<void> {
  const missing = wanted.filter((tool) => !isInstalled(tool));
  if (missing.length === 0) return;
  const options = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }, maxBuffer: 64 * 1024 * 1024 };
  await run('apt-get', ['update'], options);
  await run('apt-get', [...installArguments, ...missing.map(({ name }) => name)], options);
  requireTools(wanted);
}

export function installCommand(missing: readonly Tool[]): string {
  return ['sudo apt-get', ...installArguments, ...missing.map(({ name }) => name)].join(' ');
}

const installArguments = ['install', '-y', '--no-install-recommends'];

export function listNames(list: readonly Tool[]): string {
  return list.map(({ name }) => name).join(', ');
}

function folderOnPath(program: string): string | undefined {
  return (process.env.PATH ?? '').split(delimiter).find((folder) => exists(join(folder, program), constants.X_OK));
}

function exists(path: string, mode = constants.F_OK): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}
