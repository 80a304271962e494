import { execFile } from 'node:child_process';
import { accessSync, constants, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A system program that tests start. */
export interface Tool {
  /** The name of its Debian package. */
  readonly name: string;
  readonly isInstalled: () => boolean;
  /** Matches the source of a module that starts the program. */
  readonly marker: RegExp;
}

const oldestPostgres = 15;
const postgresFolder = '/usr/lib/postgresql';
/** Where Debian's packages install modules of Python. */
const pythonModules = '/usr/lib/python3/dist-packages';
const pythonMarker = /\/usr\/bin\/python3/;

/** The system programs that tests need. */
export const tools = [
  { name: 'postgresql', isInstalled: () => findPostgres() !== undefined, marker: /'initdb'/ },
  { name: 'chromium', isInstalled: () => exists('/usr/bin/chromium'), marker: /\/usr\/bin\/chromium/ },
  { name: 'bubblewrap', isInstalled: () => exists('/usr/bin/bwrap'), marker: /\/usr\/bin\/bwrap/ },
  // For network namespaces in which tests try forbidden addresses.
  { name: 'iproute2', isInstalled: () => exists('/sbin/ip'), marker: /'--net'/ },
  // Compiles the library that lets the disk of a service fail.
  { name: 'gcc', isInstalled: () => exists('/usr/bin/gcc'), marker: /'gcc'/ },
  { name: 'libc6-dev', isInstalled: () => exists('/usr/include/dlfcn.h'), marker: /'gcc'/ },
  // For the Python client: its only dependency, and the tools that build and install its wheel and check its types.
  { name: 'python3-httpx', isInstalled: () => exists(`${pythonModules}/httpx`), marker: pythonMarker },
  { name: 'python3-pip', isInstalled: () => exists(`${pythonModules}/pip`), marker: pythonMarker },
  { name: 'python3-setuptools', isInstalled: () => exists(`${pythonModules}/setuptools`), marker: pythonMarker },
  { name: 'python3-wheel', isInstalled: () => exists(`${pythonModules}/wheel`), marker: pythonMarker },
  { name: 'mypy', isInstalled: () => exists('/usr/bin/mypy'), marker: /\/usr\/bin\/mypy/ },
  // The second readers of documents of the corpus.
  { name: 'poppler-utils', isInstalled: () => exists('/usr/bin/pdftotext'), marker: /\/usr\/bin\/pdftotext/ },
  { name: 'pandoc', isInstalled: () => exists('/usr/bin/pandoc'), marker: /\/usr\/bin\/pandoc/ },
  // Reads scanned pages. The package brings the data of English and of the orientation of pages.
  { name: 'tesseract-ocr', isInstalled: () => exists('/usr/bin/tesseract'), marker: /\/usr\/bin\/tesseract/ },
  // For the completion scripts of the command line.
  { name: 'zsh', isInstalled: () => exists('/usr/bin/zsh'), marker: /\/usr\/bin\/zsh/ },
  { name: 'fish', isInstalled: () => exists('/usr/bin/fish'), marker: /\/usr\/bin\/fish/ },
  { name: 'pgbouncer', isInstalled: () => exists('/usr/sbin/pgbouncer'), marker: /\/usr\/sbin\/pgbouncer/ },
  { name: 'nginx', isInstalled: () => exists('/usr/sbin/nginx'), marker: /\/usr\/sbin\/nginx/ },
  { name: 'caddy', isInstalled: () => exists('/usr/bin/caddy'), marker: /\/usr\/bin\/caddy/ },
  // Builds the container image on a base that needs no image registry.
  { name: 'buildah', isInstalled: () => exists('/usr/bin/buildah'), marker: /\/usr\/bin\/buildah/ },
  { name: 'debootstrap', isInstalled: () => exists('/usr/sbin/debootstrap'), marker: /\/usr\/sbin\/debootstrap/ },
  { name: 'systemd', isInstalled: () => exists('/usr/bin/systemd-analyze'), marker: /\/usr\/bin\/systemd-analyze/ },
] as const satisfies readonly Tool[];

export type ToolName = (typeof tools)[number]['name'];

/** The programs that `npm run proof` needs: a compiler for its recorder, and a settable clock. */
export const proofTools: readonly Tool[] = [
  ...toolsNamed('gcc', 'libc6-dev'),
  { name: 'diffutils', isInstalled: () => exists('/usr/bin/diff'), marker: /^$/ },
  { name: 'faketime', isInstalled: () => exists('/usr/bin/faketime'), marker: /^$/ },
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

/** Returns whether missing tools may be installed: only on Debian and as root. Other systems are never changed. */
export function mayInstall(): boolean {
  return process.platform === 'linux' && process.getuid?.() === 0 && folderOnPath('apt-get') !== undefined;
}

/** Installs missing tools where that is allowed. Returns those that are still missing. */
export async function provideTools(needed: readonly Tool[]): Promise<readonly Tool[]> {
  const missing = needed.filter((tool) => !tool.isInstalled());
  if (missing.length === 0 || !mayInstall()) return missing;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const options = { env, maxBuffer: 64 * 1024 * 1024 };
  await run('apt-get', ['update'], options);
  await run('apt-get', [...installArguments, ...missing.map(({ name }) => name)], options);
  const still = missing.filter((tool) => !tool.isInstalled());
  if (still.length > 0) throw new Error(`${listNames(still)} is still missing after: ${installCommand(missing)}`);
  return [];
}

/**
 * Installs missing tools where that is allowed.
 * @throws Error with the command that installs the missing tools
 */
export async function requireTools(needed: readonly Tool[]): Promise<void> {
  const missing = await provideTools(needed);
  if (missing.length > 0) throw new Error(`This needs ${listNames(missing)}. Run: ${installCommand(missing)}`);
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
