import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  type IsolatedChild,
  mappedAtStartMb,
  type SpawnSettings,
  spawnIsolated,
} from '../../processes/isolation/spawn-isolated.ts';
import { channelFiles } from '../../processes/supervised-process.ts';

export interface ChildPlan {
  /** Real path: the permission model compares paths after following links only on one side. */
  readonly bundleFolder: string;
  readonly memoryMb: number;
  /** Instead of `child.ts`, and then without the seat belt: for trying what the command line alone denies. */
  readonly entry?: string;
  /** Without Node's permission model: for trying what the kernel alone denies. */
  readonly isUnrestricted?: true;
}

const folder = import.meta.dirname;
/** All the runtime that a child reads. */
const runtimeFiles = [
  ...['child.ts', 'handler-context.ts', 'protocol.ts', 'seat-belt.ts'].map((name) => join(folder, name)),
  ...channelFiles,
];
/** What V8 takes where there is memory enough. By the limit of a control group it would take 2, and twice the time. */
const youngMb = 32;

/** Starts a process that runs handlers of one bundle. Its channel carries the messages of `protocol.ts`. */
export function spawnChild(plan: ChildPlan, settings: SpawnSettings): IsolatedChild {
  const { bundleFolder, memoryMb, entry, isUnrestricted = false } = plan;
  const program = {
    entry: entry ?? join(folder, 'child.ts'),
    args: [`${pathToFileURL(bundleFolder).href}/`],
    flags: [
      '--disable-proto=throw',
      `--max-old-space-size=${heapMb(memoryMb)}`,
      `--max-semi-space-size=${youngMb}`,
      ...(entry === undefined ? ['--import', pathToFileURL(join(folder, 'seat-belt.ts')).href] : []),
    ],
    readable: [...runtimeFiles, bundleFolder],
    folder: bundleFolder,
    // Node needs about ten threads.
    limits: { dataMb: mappedAtStartMb + memoryMb, fileMb: 32, descriptors: 64, tasks: 64 },
    memoryMb,
    isUnrestricted,
  };
  return spawnIsolated(program, settings);
}

/** V8's heap ends below the limit, so that garbage is collected before the watch on resident memory kills the child. */
function heapMb(memoryMb: number): number {
  return Math.max(24, memoryMb - 64);
}
