import { type ChildProcess, spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** How children are started on this machine; found by `probe.ts`. */
export interface SpawnSettings {
  /** User and group id of the children; undefined: the server's own. */
  readonly userId: number | undefined;
  /** Put before the command line; ends in the command it runs. */
  readonly wrapper: readonly string[];
}

export interface ChildPlan {
  /** Real path: the permission model compares paths after following links only on one side. */
  readonly bundleFolder: string;
  readonly memoryMb: number;
  /** Instead of `child.ts`, and then without the seat belt: for trying what the command line alone denies. */
  readonly entry?: string;
}

export const nobody = 65534;

const folder = import.meta.dirname;
/** All the runtime that a child reads. */
export const runtimeFiles = [
  ...['child.ts', 'handler-context.ts', 'protocol.ts', 'seat-belt.ts', 'probe-child.ts'],
].map((name) => join(folder, name));

/**
 * Ends the child when the server dies, even while it spins; gives it no way to new privileges, no core file (it would
 * hold inputs) and few descriptors. Part of util-linux.
 */
export const utilLinuxWrapper: readonly string[] = [
  ...['/usr/bin/setpriv', '--pdeathsig', 'KILL', '--no-new-privs', '--'],
  ...['/usr/bin/prlimit', '--core=0', '--nofile=64', '--'],
];

/**
 * Starts one child: the only place that knows its command line and its environment, which is empty. Descriptor 3 is
 * the channel of `protocol.ts`.
 */
export function spawnChild(plan: ChildPlan, settings: SpawnSettings): ChildProcess {
  const [command = process.execPath, ...args] = [...settings.wrapper, process.execPath, ...nodeArguments(plan)];
  return spawn(command, args, {
    env: {},
    cwd: plan.bundleFolder,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    ...(settings.userId === undefined ? {} : { uid: settings.userId, gid: settings.userId }),
  });
}

function nodeArguments(plan: ChildPlan): string[] {
  const known = (flag: string): boolean => process.allowedNodeEnvironmentFlags.has(flag);
  const flags = ['--permission', '--no-experimental-sqlite', '--disable-sigusr1'].filter(known);
  const readable = known('--permission') ? [...runtimeFiles, ...packageFiles(), plan.bundleFolder] : [];
  return [
    ...flags,
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

/** Node looks for the module type of the entry in these. */
function packageFiles(): string[] {
  const found: string[] = [];
  for (let at = folder; at !== dirname(at); at = dirname(at)) found.push(join(at, 'package.json'));
  return found;
}
