import { type ChildProcess, type SpawnOptions, type StdioNull, type StdioPipe, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { constants, getPriority, setPriority } from 'node:os';
import { dirname, join } from 'node:path';
import { bubblewrapArguments, systemCallFilter } from './bubblewrap.ts';
import type { Cgroups, Group } from './cgroup/cgroups.ts';
import { enterBefore } from './cgroup/enter.ts';

/** How children are started on this machine, as determined by `probe.ts`. */
export interface SpawnSettings {
  /** `own`: a unique user for each child; a number: that user and group; undefined: the server's user. */
  readonly user: 'own' | number | undefined;
  /** util-linux is available: the kernel limits apply, and a child ends with the server even while it is in a loop. */
  readonly hasUtilLinux: boolean;
  /** The child runs in bubblewrap (tier T2). */
  readonly isSandboxed: boolean;
  /** A child that runs as root keeps root's capabilities, because it could not read its program without them. */
  readonly keepsCapabilities?: boolean;
  /** Creates a control group for each child. Default: only the limits of util-linux and the memory watch apply. */
  readonly cgroups?: Cgroups | undefined;
}

/** A Node.js program, and what one kind of child (handlers, extraction processes) may access. */
export interface IsolatedProgram extends Pick<IsolatedCommand, 'folder' | 'limits' | 'memoryMb'> {
  /** The module that runs. */
  readonly entry: string;
  readonly args: readonly string[];
  /** Node.js flags, in addition to those of every child. */
  readonly flags: readonly string[];
  /**
   * Files and folders that the program may read, in addition to those of Node.js. They must be real paths, because the
   * permission model resolves links on one side of the comparison only.
   */
  readonly readable: readonly string[];
  /** Added to the priority value of the server, so that requests come before the work of the child. Default: 0. */
  readonly niceness?: number;
  /** Disables Node's permission model, to test what the kernel alone denies. */
  readonly isUnrestricted?: boolean;
}

/** A program that is not Node.js. It reads its input stream, and it has no channel. */
export interface IsolatedCommand {
  /** The path of the program and its arguments. */
  readonly command: readonly [string, ...string[]];
  /** Its whole environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** Files and folders that it may read in a sandbox, in addition to itself and the libraries of the system. */
  readonly readable: readonly string[];
  readonly folder: string;
  readonly limits: KernelLimits;
  /** The memory limit of its control group, where groups are available. */
  readonly memoryMb: number;
}

/** Limits that the kernel enforces on a child. */
export interface KernelLimits {
  /** Writable memory. It bounds growth that is too fast for the watch on resident memory. Default: unlimited. */
  readonly dataMb?: number;
  /** The maximum size of a file it writes, and the size of `/tmp` in a sandbox. */
  readonly fileMb: number;
  readonly descriptors: number;
  /** Threads and processes together. Enforced where the child has its own user or is sandboxed. */
  readonly tasks: number;
  /** Processor time. Default: unlimited. */
  readonly cpuSeconds?: number;
}

export interface IsolatedChild {
  readonly process: ChildProcess;
  /**
   * The id of the process that runs the program. In bubblewrap it differs from the started process. Undefined until
   * known.
   */
  pid(): number | undefined;
  /** Kills the child and its process group. */
  kill(): void;
  /** Whether the kernel killed it because its memory was exhausted. Known after it has ended. */
  hasRunOutOfMemory(): boolean;
}

export const nobody = 65534;
/** The descriptor of the bidirectional channel. A child also has its output streams, but no input stream. */
export const channelDescriptor = 3;
const stdio = ['ignore', 'pipe', 'pipe', 'pipe'] as const;
const commandStdio = ['pipe', 'pipe', 'pipe', 'ignore'] as const;
/** Additional descriptors of bubblewrap: it reads the system-call filter and writes the id of its child. */
const [filterDescriptor, infoDescriptor] = [stdio.length, stdio.length + 1];
/** Memory that Node.js maps as writable at its start, mostly untouched: space for machine code and stacks. */
export const mappedAtStartMb = 768;
const firstUser = 1_900_000_000;
const setpriv = ['/usr/bin/setpriv', '--pdeathsig', 'KILL', '--no-new-privs'];
const prlimit = '/usr/bin/prlimit';
const shell = '/bin/sh';
const mebibyte = 1024 ** 2;

/** Starts one child. Only this module defines its command line. The environment of Node.js is empty. */
export function spawnIsolated(program: IsolatedProgram | IsolatedCommand, settings: SpawnSettings): IsolatedChild {
  const words = wrap(program, settings);
  const userId = settings.user === 'own' ? ownUser() : settings.user;
  const options = {
    env: environmentOf(program),
    cwd: settings.isSandboxed ? '/' : program.folder,
    stdio: [
      ...('command' in program ? commandStdio : stdio),
      ...(settings.isSandboxed ? (['pipe', 'pipe'] as const) : []),
    ],
    // The child leads its own process group. Ctrl-C reaches only the server, which ends its children itself.
    detached: true,
    ...(userId === undefined ? {} : { uid: userId, gid: userId }),
  };
  const group = settings.cgroups?.open(program.memoryMb);
  const child = group === undefined ? spawnWords(words, options) : spawnInto(group, words, options);
  if ('niceness' in program && program.niceness !== undefined) lowerPriority(child.pid, program.niceness);
  // If bubblewrap is killed during setup, its child waits for ever and keeps the pipes open.
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

/** Called only up to the exit of the leader. Later its id may belong to another process. */
function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // The group no longer exists.
  }
}

type Options = SpawnOptions & { readonly stdio: Array<StdioNull | StdioPipe | number> };

function spawnWords([command = process.execPath, ...args]: readonly string[], options: Options): ChildProcess {
  return spawn(command, args, options);
}

/** Starts the program in the group. Afterwards neither process holds a descriptor of the group. */
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

/** When the process ends, kills what it left in the group and removes the group. */
function endWith(child: ChildProcess, group: Group): () => boolean {
  let hasRunOut = false;
  child.once('exit', () => {
    hasRunOut = group.hasKilledForMemory();
    group.killAll();
  });
  // The event `close` is also emitted for a process that could not be started.
  child.once('close', () => void group.remove());
  return () => hasRunOut;
}

function environmentOf(program: IsolatedProgram | IsolatedCommand): Readonly<Record<string, string>> {
  return 'command' in program ? program.environment : {};
}

function wrap(program: IsolatedProgram | IsolatedCommand, settings: SpawnSettings): string[] {
  const { limits, folder } = program;
  const { hasUtilLinux, isSandboxed, user } = settings;
  const isCommand = 'command' in program;
  const words = isCommand ? [...program.command] : [process.execPath, ...nodeArguments(program)];
  const own = isCommand ? [program.command[0], ...program.readable] : [process.execPath, ...readableFiles(program)];
  const taskLimit = hasUtilLinux && (isSandboxed || user === 'own') ? [prlimit, `--nproc=${limits.tasks}`, '--'] : [];
  if (!isSandboxed) {
    if (!hasUtilLinux) return [...shellLimits(limits), ...words];
    return [...privileges(settings), ...kernelLimits(limits), ...taskLimit, ...words];
  }
  const namespace = {
    readable: [...own, ...taskLimit.slice(0, 1)],
    environment: environmentOf(program),
    folder,
    scratchBytes: limits.fileMb * mebibyte,
    filterDescriptor,
    infoDescriptor,
  };
  // A limit set inside counts the tasks of the sandbox only, even if another process outside has the same user.
  return [...(hasUtilLinux ? kernelLimits(limits) : []), ...bubblewrapArguments(namespace), ...taskLimit, ...words];
}

/** Prevents new privileges and ends the child when the server dies. As root, it also drops all capabilities. */
function privileges({ user, keepsCapabilities }: SpawnSettings): string[] {
  const isRoot = user === undefined && process.getuid?.() === 0;
  const dropped = isRoot && keepsCapabilities !== true ? ['--inh-caps=-all', '--bounding-set=-all'] : [];
  return [...setpriv, ...dropped, '--'];
}

/** Core files are disabled as well, because they would contain inputs. */
function kernelLimits({ dataMb, fileMb, descriptors, cpuSeconds }: KernelLimits): string[] {
  return [
    ...[prlimit, '--core=0', `--nofile=${descriptors}`, `--fsize=${fileMb * mebibyte}`],
    ...(dataMb === undefined ? [] : [`--data=${dataMb * mebibyte}`]),
    ...(cpuSeconds === undefined ? [] : [`--cpu=${cpuSeconds}`]),
    '--',
  ];
}

/** Without util-linux, as on macOS, a shell sets the processor limit, which ends a child that hangs in a loop. */
function shellLimits({ cpuSeconds }: KernelLimits): string[] {
  if (cpuSeconds === undefined || !existsSync(shell)) return [];
  const script = 'unset PWD OLDPWD SHLVL; ulimit -c 0; ulimit -t "$1"; shift; exec "$@"';
  return [shell, '-c', script, 'sh', String(cpuSeconds)];
}

/**
 * Chooses from many ids, so that two children rarely share one, even of two servers. By convention, no user has an id
 * of this range.
 */
function ownUser(): number {
  return firstUser + randomInt(0x0100_0000);
}

/** Sends the filter to bubblewrap. The returned function reports the id of the process that runs the program. */
function instructBubblewrap(child: ChildProcess): () => number | undefined {
  let info = '';
  // Both streams are pipes, which Node.js represents by sockets. The types of `stdio` end at descriptor 4.
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
    // The permission model does not cover these two features.
    ...['--no-experimental-sqlite', '--disable-sigusr1'].filter(isKnown),
    '--disallow-code-generation-from-strings',
    ...program.flags,
    program.entry,
    ...program.args,
  ];
}

/** Includes every `package.json` above a module, because Node.js reads it to find the type of the module. */
function readableFiles({ entry, readable }: IsolatedProgram): string[] {
  const found: string[] = [];
  for (let at = dirname(entry); at !== dirname(at); at = dirname(at)) found.push(join(at, 'package.json'));
  return [...readable, ...found.filter((path) => existsSync(path))];
}

/**
 * Adds to the niceness of a process, for all its threads and, where Linux schedules by session (autogroup), for its session. A
 * detached process has a session of its own, and then the niceness of its threads has no effect on other sessions.
 * It cannot be undone by an ordinary user.
 */
export function lowerPriority(pid: number | undefined, niceness: number): void {
  if (pid === undefined) return;
  try {
    const lower = Math.min(getPriority() + niceness, constants.priority.PRIORITY_LOW);
    for (const thread of readdirSync(`/proc/${pid}/task`)) setPriority(Number(thread), lower);
    writeFileSync(`/proc/${pid}/autogroup`, String(lower));
  } catch {
    // The process has exited already, or this is no Linux with autogroups.
  }
}
