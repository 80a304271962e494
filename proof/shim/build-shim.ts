import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Control, controlBytes, mostClasses, openControl } from './control.ts';

/** A kind of file: the paths below the recorded folder that match `glob`. In it, `*` also matches slashes. */
export interface FileClass {
  readonly name: string;
  readonly glob: string;
}

/** A shim that processes can load. */
export interface Shim {
  readonly control: Control;
  readonly logPath: string;
  readonly classes: readonly FileClass[];
  /** The environment variables of a process under the shim. */
  readonly environment: Readonly<Record<string, string>>;
  /** The same as a command prefix. */
  readonly launcher: readonly string[];
}

const built = new Map<string, string>();

/** Compiles the shim into `folder`, once per process. */
function compileShim(folder: string): string {
  const known = built.get('shim');
  if (known !== undefined) return known;
  mkdirSync(folder, { recursive: true });
  const library = join(folder, 'disk-shim.so');
  const source = join(import.meta.dirname, 'disk-shim.c');
  execFileSync('gcc', ['-shared', '-fPIC', '-O2', '-Wall', '-Werror', '-o', library, source, '-ldl', '-lpthread']);
  built.set('shim', library);
  return library;
}

/** Creates a log and a control file for the files below `root`. Other users of the machine may write both. */
export function createShim(work: string, root: string, classes: readonly FileClass[]): Shim {
  if (classes.length >= mostClasses) throw new Error(`at most ${mostClasses - 1} classes of files`);
  const library = compileShim(work);
  const folder = mkdtempSync(join(work, 'shim-'));
  chmodSync(folder, 0o711);
  const logPath = join(folder, 'log');
  const controlPath = join(folder, 'control');
  writeFileSync(logPath, '');
  writeFileSync(controlPath, Buffer.alloc(controlBytes));
  for (const path of [logPath, controlPath]) chmodSync(path, 0o666);
  const environment = {
    LD_PRELOAD: library,
    PROOF_ROOT: root,
    PROOF_LOG: logPath,
    PROOF_CONTROL: controlPath,
    PROOF_CLASSES: classes.map(({ glob }) => glob).join(';'),
    // Calls through io_uring would bypass the shim.
    UV_USE_IO_URING: '0',
  };
  const launcher = ['/usr/bin/env', ...Object.entries(environment).map(([name, value]) => `${name}=${value}`)];
  return { control: openControl(controlPath), logPath, classes, environment, launcher };
}

/** The files of a data folder with SQLite. */
export const storeClasses: readonly FileClass[] = [
  { name: 'log of the database', glob: '*.db-wal' },
  { name: 'index of the log', glob: '*.db-shm' },
  { name: 'database', glob: '*.db' },
  { name: 'staging', glob: 'staging*' },
  { name: 'blobs', glob: 'blobs*' },
  { name: 'quarantine', glob: 'quarantine*' },
  { name: 'backup', glob: 'backup*' },
];

/** The files of a PostgreSQL server. */
export const clusterClasses: readonly FileClass[] = [
  { name: 'write-ahead log', glob: 'pg_wal*' },
  { name: 'tables', glob: 'base*' },
  { name: 'transaction status', glob: 'pg_xact*' },
];
