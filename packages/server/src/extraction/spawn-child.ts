import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, sep } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

export type ChildProcess = ChildProcessByStdio<Writable, Readable, Readable>;

const entry = fileURLToPath(new URL('./child.ts', import.meta.url));
/** The only file of the kernel that the child needs. */
const parser = realpathSync(fileURLToPath(new URL('../kernel/parse-json.ts', import.meta.url)));
const shell = '/bin/sh';

/**
 * Starts a process that reads documents: an empty environment, no files but its program, no network, no other
 * processes, bounded heap and processor time. The processor limit is what ends a child that hangs in a loop after the
 * server was killed: it cannot notice that its input ended.
 */
export function spawnChild(limits: { memoryMb: number; cpuSeconds: number }, program: string = entry): ChildProcess {
  const command = [process.execPath, ...flags(limits.memoryMb), program];
  const [file = '', ...argv] = existsSync(shell)
    ? [
        shell,
        '-c',
        'unset PWD OLDPWD SHLVL; ulimit -c 0; ulimit -t "$1"; shift; exec "$@"',
        'sh',
        String(limits.cpuSeconds),
        ...command,
      ]
    : command;
  // Its own group: Ctrl-C is for the server, which ends its children itself.
  return spawn(file, argv, { env: {}, cwd: '/', stdio: ['pipe', 'pipe', 'pipe'], detached: true });
}

function flags(memoryMb: number): string[] {
  const wanted = [
    '--permission',
    ...readableFolders().map((folder) => `--allow-fs-read=${folder}${sep}*`),
    `--allow-fs-read=${parser}`,
    // For one thread, which is there before the first document comes; then the child gives this up.
    ...(canGiveUp(process.versions.node) ? ['--allow-worker'] : []),
    `--max-old-space-size=${memoryMb}`,
    // A batch lives until it is sent: in a smaller young generation most of it is copied twice. See ADR 0052.
    '--min-semi-space-size=32',
    '--disallow-code-generation-from-strings',
    '--disable-warning=SecurityWarning',
    // The permission model does not cover these two.
    '--no-experimental-sqlite',
    '--disable-sigusr1',
  ];
  return wanted.filter((flag) => isKnown(flag));
}

/** Older versions of Node end at once when they meet a flag they do not know. */
function isKnown(flag: string): boolean {
  const [name = ''] = flag.split('=');
  return (
    !['--disable-sigusr1', '--no-experimental-sqlite'].includes(name) || process.allowedNodeEnvironmentFlags.has(name)
  );
}

/** Since 26.3 a process can give up what it was permitted. */
function canGiveUp(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 26 || (major === 26 && minor >= 3);
}

const libraries = ['gpt-tokenizer', 'htmlparser2', 'marked', '@hyzyla/pdfium', 'chardet', 'fflate'];

/** This folder, and the `node_modules` folders that hold the libraries. */
function readableFolders(): string[] {
  const require = createRequire(import.meta.url);
  const folders = new Set([dirname(realpathSync(entry))]);
  for (const library of libraries) {
    const lookedIn = require.resolve.paths(library) ?? [];
    const found = lookedIn.find((folder) => existsSync(join(folder, library)));
    if (found !== undefined) folders.add(realpathSync(found));
  }
  return [...folders];
}
