import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bubblewrapArguments, filterDescriptor, infoDescriptor, systemCallFilter } from './bubblewrap.ts';

/** How children are started on this machine; found by `probe.ts`. */
export interface SpawnSettings {
  /** User and group id of the children; undefined: the server's own. */
  readonly userId: number | undefined;
  /** Put before the command line; ends in the command it runs. */
  readonly wrapper: readonly string[];
  /** Within bubblewrap (tier T2). */
  readonly isSandboxed: boolean;
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
}

export const nobody = 65534;

const folder = import.meta.dirname;
/** All the runtime that a child reads. */
export const runtimeFiles = [
  ...['child.ts', 'handler-context.ts', 'protocol.ts', 'seat-belt.ts', 'probe-child.ts', 'probe-sandbox.ts'],
].map((name) => join(folder, name));

const limits = ['/usr/bin/prlimit', '--core=0', '--nofile=64', '--'];

/**
 * Ends the child when the server dies, even while it spins; gives it no way to new privileges, no core file (it would
 * hold inputs) and few descriptors. Part of util-linux.
 */
export const utilLinuxWrapper: readonly string[] = [
  ...['/usr/bin/setpriv', '--pdeathsig', 'KILL', '--no-new-privs', '--'],
  ...limits,
];

/** The same limits within bubblewrap, which does the rest of it by itself. */
export const limitsWrapper: readonly string[] = limits;

/**
 * Starts one child: the only place that knows its command line and its environment, which is empty. Descriptor 3 is
 * the channel of `protocol.ts`.
 */
export function spawnChild(plan: ChildPlan, settings: SpawnSettings): Child {
  const node = [process.execPath, ...nodeArguments(plan)];
  const inner = settings.isSandboxed ? [...bubblewrapArguments(visibleFiles(plan), plan.bundleFolder), ...node] : node;
  const [command = process.execPath, ...args] = [...settings.wrapper, ...inner];
  const stdio: StdioOptions = ['ignore', 'pipe', 'pipe', 'pipe'];
  if (settings.isSandboxed) stdio[filterDescriptor] = stdio[infoDescriptor] = 'pipe';
  const child = spawn(command, args, {
    env: {},
    cwd: settings.isSandboxed ? '/' : plan.bundleFolder,
    stdio,
    ...(settings.userId === undefined ? {} : { uid: settings.userId, gid: settings.userId }),
  });
  return { process: child, pid: settings.isSandboxed ? instructBubblewrap(child) : () => child.pid };
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
