import { type ChildProcess, type SpawnOptions, type StdioNull, type StdioPipe, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bubblewrapArguments, filterDescriptor, infoDescriptor, systemCallFilter } from './bubblewrap.ts';
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
  /** Each child gets a group of its own. Without: the limits of util-linux and the watch on memory alone. */
  readonly cgroups?: Cgroups | undefined;
}

export interface ChildPlan {
  /** Real path: the permission model compares paths after following links only on one side. */
  readonly bundleFolder: string;
  readonly memoryMb: number;
  /** Instead of `child.ts`, and then without the seat belt: for trying what the command line alone denies. */
  readonly entry?: string;
  /** Without Node's permission model: for trying what the kernel alone denies. */
  readonly isUnrestricted?: true;
}

export interface Child {
  readonly process: ChildProcess;
  /** Of the process that runs the handler: within bubblewrap another one than was started. Undefined until known. */
  pid(): number | undefined;
  /** Whether the kernel ended it for want of memory. Known when it has ended. */
  hasRunOutOfMemory(): boolean;
}

export const nobody = 65534;
const firstUser = 1_900_000_000;

const folder = import.meta.dirname;
/** All the runtime that a child reads. */
const runtimeFiles = [
  ...['child.ts', 'handler-context.ts', 'protocol.ts', 'seat-belt.ts', 'probe-child.ts', 'probe-sandbox.ts'],
].map((name) => join(folder, name));

/** Gives it no way to new privileges, and ends it when the server dies. */
const untilServerEnds = ['/usr/bin/setpriv', '--pdeathsig', 'KILL', '--no-new-privs', '--'];
/** Threads count too; Node needs about ten. */
const taskLimit = ['/usr/bin/prlimit', '--nproc=64', '--'];
/** What Node maps as writable before it runs anything, most of it never touched: room for machine code and stacks. */
const mappedAtStartMb = 768;
const maxFileMb = 32;
/** What V8 takes where there is memory enough. By the limit of a control group it would take 2, and twice the time. */
const youngMb = 32;

/**
 * No core file (it would hold inputs), few descriptors, small files, and an end to memory that the watch on resident
 * memory is too slow for.
 */
function kernelLimits(memoryMb: number): string[] {
  const data = (mappedAtStartMb + memoryMb) * 1024 ** 2;
  return ['/usr/bin/prlimit', '--core=0', '--nofile=64', `--fsize=${maxFileMb * 1024 ** 2}`, `--data=${data}`, '--'];
}

/**
 * Starts one child: the only place that knows its command line and its environment, which is empty. Descriptor 3 is
 * the channel of `protocol.ts`.
 */
export function spawnChild(plan: ChildPlan, settings: SpawnSettings): Child {
  const node = [process.execPath, ...nodeArguments(plan)];
  const words = wrap(node, plan, settings);
  const userId = settings.user === 'own' ? ownUser() : settings.user;
  const stdio: Options['stdio'] = ['ignore', 'pipe', 'pipe', 'pipe'];
  if (settings.isSandboxed) stdio[filterDescriptor] = stdio[infoDescriptor] = 'pipe';
  const options = {
    env: {},
    cwd: settings.isSandboxed ? '/' : plan.bundleFolder,
    stdio,
    ...(userId === undefined ? {} : { uid: userId, gid: userId }),
  };
  const group = settings.cgroups?.open(plan.memoryMb);
  const child = group === undefined ? spawnWords(words, options) : spawnInto(group, words, options);
  return {
    process: child,
    pid: settings.isSandboxed ? instructBubblewrap(child) : () => child.pid,
    hasRunOutOfMemory: group === undefined ? () => false : endWith(child, group),
  };
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

function wrap(node: readonly string[], plan: ChildPlan, { isSandboxed, hasUtilLinux, user }: SpawnSettings): string[] {
  const limits = hasUtilLinux ? kernelLimits(plan.memoryMb) : [];
  if (!isSandboxed) {
    return hasUtilLinux ? [...untilServerEnds, ...limits, ...(user === 'own' ? taskLimit : []), ...node] : [...node];
  }
  const readable = [...visibleFiles(plan), ...(hasUtilLinux ? taskLimit.slice(0, 1) : [])];
  // Set within, tasks are counted in the sandbox alone, whoever else has the same user outside.
  return [...limits, ...bubblewrapArguments(readable, plan.bundleFolder), ...(hasUtilLinux ? taskLimit : []), ...node];
}

/** Of many, so that two children, of two servers too, hardly ever share one. The range is nobody's by convention. */
function ownUser(): number {
  return firstUser + randomInt(0x0100_0000);
}

/** Gives it the filter; what it answers tells the process that runs the handler. */
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

function nodeArguments(plan: ChildPlan): string[] {
  const known = (flag: string): boolean => process.allowedNodeEnvironmentFlags.has(flag);
  const canRestrict = known('--permission') && plan.isUnrestricted === undefined;
  const flags = ['--permission', '--no-experimental-sqlite', '--disable-sigusr1'].filter(known);
  const readable = canRestrict ? [...runtimeFiles, ...packageFiles(), plan.bundleFolder] : [];
  return [
    ...flags.filter((flag) => canRestrict || flag !== '--permission'),
    ...readable.map((path) => `--allow-fs-read=${path}`),
    '--disallow-code-generation-from-strings',
    '--disable-proto=throw',
    `--max-old-space-size=${heapMb(plan.memoryMb)}`,
    `--max-semi-space-size=${youngMb}`,
    ...(plan.entry === undefined ? ['--import', pathToFileURL(join(folder, 'seat-belt.ts')).href] : []),
    plan.entry ?? join(folder, 'child.ts'),
    `${pathToFileURL(plan.bundleFolder).href}/`,
  ];
}

/** V8's heap ends below the limit, so that garbage is collected before the watch on resident memory kills the child. */
function heapMb(memoryMb: number): number {
  return Math.max(24, memoryMb - 64);
}

function visibleFiles({ bundleFolder }: ChildPlan): string[] {
  return [process.execPath, ...runtimeFiles, ...packageFiles().filter((path) => existsSync(path)), bundleFolder];
}

/** Node looks for the module type of the entry in these. */
function packageFiles(): string[] {
  const found: string[] = [];
  for (let at = folder; at !== dirname(at); at = dirname(at)) found.push(join(at, 'package.json'));
  return found;
}
