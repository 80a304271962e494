import { type ChildProcess, type SpawnOptions, type StdioNull, type StdioPipe, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { bubblewrapArguments, systemCallFilter } from './bubblewrap.ts';
import type { Cgroups, Group } from './cgroup/cgroups.ts';
import { enterBefore } from './cgroup/enter.ts';

/** How children are started on this machine; found by `probe.ts`. */
export interface SpawnSettings {
  /** `own`: each child one that nobody else has; a number: that user and group; undefined: the server's own. */
  readonly user: 'own' | number | undefined;
  /** The programs of util-linux are there: limits of the kernel, and a child ends with the server even while it spins. */
  readonly hasUtilLinux: boolean;
  /** Within bubblewrap (tier T2). */
  readonly isSandboxed: boolean;
  /** A child that runs as root keeps root's capabilities, because it could not read its program without them. */
  readonly keepsCapabilities?: boolean;
  /** Each child gets a group of its own. Without: the limits of util-linux and the watch on memory alone. */
  readonly cgroups?: Cgroups | undefined;
}

/** A program of Node, and what one kind of child (handlers, readers of documents) may see and use. */
export interface IsolatedProgram {
  /** The module that runs. */
  readonly entry: string;
  readonly args: readonly string[];
  /** Flags of Node, beside those that every child has. */
  readonly flags: readonly string[];
  /**
   * Files and folders that it may read, beside what Node itself needs. Real paths: the permission model compares paths
   * after following links only on one side.
   */
  readonly readable: readonly string[];
  /** Its working folder. */
  readonly folder: string;
  readonly limits: KernelLimits;
  /** Memory of its control group, where there are any. */
  readonly memoryMb: number;
  /** Without Node's permission model: for trying what the kernel alone denies. */
  readonly isUnrestricted?: boolean;
}

/** Limits that the kernel holds a child to. */
export interface KernelLimits {
  /** Writable memory: an end to memory that the watch on resident memory is too slow for. Default: unlimited. */
  readonly dataMb?: number;
  /** The largest file that it may write, and the size of `/tmp` in a sandbox. */
  readonly fileMb: number;
  readonly descriptors: number;
  /** Threads and processes together; held where the child has a user of its own or is sandboxed. */
  readonly tasks: number;
  /** Processor time. Default: unlimited. */
  readonly cpuSeconds?: number;
}

export interface IsolatedChild {
  readonly process: ChildProcess;
  /** Of the process that runs the program: within bubblewrap another one than was started. Undefined until known. */
  pid(): number | undefined;
  /** Ends it, with everything that is in its process group. */
  kill(): void;
  /** Whether the kernel ended it for want of memory. Known when it has ended. */
  hasRunOutOfMemory(): boolean;
}

export const nobody = 65534;
/** What a child has beside its output streams: a pipe in both directions. It has no input stream. */
export const channelDescriptor = 3;
const stdio = ['ignore', 'pipe', 'pipe', 'pipe'] as const;
/** Those that bubblewrap gets besides: it reads the filter of system calls and writes what it has started. */
const [filterDescriptor, infoDescriptor] = [stdio.length, stdio.length + 1];
/** What Node maps as writable before it runs anything, most of it never touched: room for machine code and stacks. */
export const mappedAtStartMb = 768;
const firstUser = 1_900_000_000;
const setpriv = ['/usr/bin/setpriv', '--pdeathsig', 'KILL', '--no-new-privs'];
const prlimit = '/usr/bin/prlimit';
const shell = '/bin/sh';
const mebibyte = 1024 ** 2;

/** Starts one child: the only place that knows its command line and its environment, which is empty. */
export function spawnIsolated(program: IsolatedProgram, settings: SpawnSettings): IsolatedChild {
  const words = wrap(program, settings);
  const userId = settings.user === 'own' ? ownUser() : settings.user;
  const options = {
    env: {},
    cwd: settings.isSandboxed ? '/' : program.folder,
    stdio: [...stdio, ...(settings.isSandboxed ? (['pipe', 'pipe'] as const) : [])],
    // It leads a process group: Ctrl-C is for the server, which ends its children itself.
    detached: true,
    ...(userId === undefined ? {} : { uid: userId, gid: userId }),
  };
  const group = settings.cgroups?.open(program.memoryMb);
  const child = group === undefined ? spawnWords(words, options) : spawnInto(group, words, options);
  // What bubblewrap has not set up yet waits for its parent for ever, and holds the pipes open.
  child.once('exit', () => killGroup(child));
  return {
    process: child,
    kill: () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      killGroup(child);
    },
    pid: settings.isSandboxed ? instructBubblewrap(child) : () => child.pid,
    hasRunOutOfMemory: group === undefined ? () => false : endWith(child, group),
  };
}

/** Called only until the leader was waited for just now: later its number may be that of a stranger. */
function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // There is no such group any more.
  }
}

type Options = SpawnOptions & { readonly stdio: Array<StdioNull | StdioPipe | number> };

function spawnWords([command = process.execPath, ...args]: readonly string[], options: Options): ChildProcess {
  return spawn(command, args, options);
}

/** Starts it in the group, and leaves no descriptor of the group to it or to us. */
function spawnInto(group: Group, words: readonly string[], { stdio, ...options }: Options): ChildProcess {
  const { entrances } = group;
  const numbers = entrances.map((_, at) => stdio.length + at);
  try {
    return spawnWords(enterBefore(words, numbers), { ...options, stdio: [...stdio, ...entrances] });
  } catch (cause) {
    void group.remove();
    throw cause;
  } finally {
    group.closeEntrances();
  }
}

/** The group ends with the process: what the process has left behind, then the group itself. */
function endWith(child: ChildProcess, group: Group): () => boolean {
  let hasRunOut = false;
  child.once('exit', () => {
    hasRunOut = group.hasKilledForMemory();
    group.killAll();
  });
  // Comes also for one that could not be started.
  child.once('close', () => void group.remove());
  return () => hasRunOut;
}

function wrap(program: IsolatedProgram, settings: SpawnSettings): string[] {
  const { limits, folder } = program;
  const { hasUtilLinux, isSandboxed, user } = settings;
  const node = [process.execPath, ...nodeArguments(program)];
  const taskLimit = hasUtilLinux && (isSandboxed || user === 'own') ? [prlimit, `--nproc=${limits.tasks}`, '--'] : [];
  if (!isSandboxed) {
    if (!hasUtilLinux) return [...shellLimits(limits), ...node];
    return [...privileges(settings), ...kernelLimits(limits), ...taskLimit, ...node];
  }
  const namespace = {
    readable: [process.execPath, ...readableFiles(program), ...taskLimit.slice(0, 1)],
    folder,
    scratchBytes: limits.fileMb * mebibyte,
    filterDescriptor,
    infoDescriptor,
  };
  // Set within, tasks are counted in the sandbox alone, whoever else has the same user outside.
  return [...(hasUtilLinux ? kernelLimits(limits) : []), ...bubblewrapArguments(namespace), ...taskLimit, ...node];
}

/** Gives it no way to new privileges, and ends it when the server dies. As root it has no capability either. */
function privileges({ user, keepsCapabilities }: SpawnSettings): string[] {
  const isRoot = user === undefined && process.getuid?.() === 0;
  const dropped = isRoot && keepsCapabilities !== true ? ['--inh-caps=-all', '--bounding-set=-all'] : [];
  return [...setpriv, ...dropped, '--'];
}

/** No core file either: it would hold inputs. */
function kernelLimits({ dataMb, fileMb, descriptors, cpuSeconds }: KernelLimits): string[] {
  return [
    ...[prlimit, '--core=0', `--nofile=${descriptors}`, `--fsize=${fileMb * mebibyte}`],
    ...(dataMb === undefined ? [] : [`--data=${dataMb * mebibyte}`]),
    ...(cpuSeconds === undefined ? [] : [`--cpu=${cpuSeconds}`]),
    '--',
  ];
}

/** Where there is no util-linux, as on macOS, a shell sets the one limit that ends a child which hangs in a loop. */
function shellLimits({ cpuSeconds }: KernelLimits): string[] {
  if (cpuSeconds === undefined || !existsSync(shell)) return [];
  const script = 'unset PWD OLDPWD SHLVL; ulimit -c 0; ulimit -t "$1"; shift; exec "$@"';
  return [shell, '-c', script, 'sh', String(cpuSeconds)];
}

/** Of many, so that two children, of two servers too, hardly ever share one. The range is nobody's by convention. */
function ownUser(): number {
  return firstUser + randomInt(0x0100_0000);
}

/** Gives it the filter; what it answers tells the process that runs the program. */
function instructBubblewrap(child: ChildProcess): () => number | undefined {
  let info = '';
  // Both are made as pipes above, which Node represents by sockets; its types end at descriptor 4.
  const streams = child.stdio as ReadonlyArray<unknown> as ReadonlyArray<Socket | undefined>;
  streams[filterDescriptor]?.on('error', () => {}).end(systemCallFilter ?? '');
  streams[infoDescriptor]
    ?.on('error', () => {})
    .on('data', (chunk: Buffer) => {
      info += chunk.toString('latin1');
    });
  return () => {
    const pid = /"child-pid": (\d+)/.exec(info)?.[1];
    return pid === undefined ? undefined : Number(pid);
  };
}

function nodeArguments(program: IsolatedProgram): string[] {
  const isKnown = (flag: string): boolean => process.allowedNodeEnvironmentFlags.has(flag);
  const isRestricted = isKnown('--permission') && program.isUnrestricted !== true;
  return [
    ...(isRestricted ? ['--permission', ...readableFiles(program).map((path) => `--allow-fs-read=${path}`)] : []),
    // The permission model does not cover these two.
    ...['--no-experimental-sqlite', '--disable-sigusr1'].filter(isKnown),
    '--disallow-code-generation-from-strings',
    ...program.flags,
    program.entry,
    ...program.args,
  ];
}

/** Node looks for the type of a module in every `package.json` above it. */
function readableFiles({ entry, readable }: IsolatedProgram): string[] {
  const found: string[] = [];
  for (let at = dirname(entry); at !== dirname(at); at = dirname(at)) found.push(join(at, 'package.json'));
  return [...readable, ...found.filter((path) => existsSync(path))];
}
