import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  type IsolatedChild,
  mappedAtStartMb,
  type SpawnSettings,
  spawnIsolated,
} from '../../../platform/processes/isolation/spawn-isolated.ts';
import { channelFiles } from '../../../platform/processes/supervised-process.ts';
import { modulePath, moduleUrl } from '../../../platform/server-process/module-path.ts';

export interface ChildPlan {
  /** A real path: the permission model resolves links on only one side of its comparison. */
  readonly bundleFolder: string;
  readonly memoryMb: number;
  /** The bundle is a piece, whose runtime the child reads too. */
  readonly isPiece?: boolean;
  /** Replaces `child.ts` and omits the runtime restrictions, to probe what the command line alone denies. */
  readonly entry?: string;
  /** Omits Node's permission model, to probe what the kernel alone denies. */
  readonly isUnrestricted?: true;
}

/** All files of the runtime that a child reads. */
const runtimeFiles = [
  ...['./child', './handler-context', './protocol', './restrict-runtime'].map((name) => modulePath(import.meta, name)),
  ...channelFiles,
];
const pieceFolder = dirname(pieceHandler());
/** The size that V8 chooses with enough memory. Within a control group it would choose 2 MiB, which doubles the run time. */
const youngMb = 32;

/** Starts a process that runs handlers of one bundle. Its channel carries the messages of `protocol.ts`. */
export function spawnChild(plan: ChildPlan, settings: SpawnSettings): IsolatedChild {
  const { bundleFolder, memoryMb, entry, isPiece = false, isUnrestricted = false } = plan;
  const program = {
    entry: entry ?? modulePath(import.meta, './child'),
    args: [`${pathToFileURL(bundleFolder).href}/`],
    flags: [
      // Packages inside of pieces read `__proto__` where it exists.
      `--disable-proto=${isPiece ? 'delete' : 'throw'}`,
      `--max-old-space-size=${heapMb(memoryMb)}`,
      `--max-semi-space-size=${youngMb}`,
      ...(entry === undefined ? ['--import', moduleUrl(import.meta, './restrict-runtime').href] : []),
    ],
    readable: [...runtimeFiles, ...(isPiece ? [pieceFolder] : []), bundleFolder],
    folder: bundleFolder,
    // Node.js needs about ten threads.
    limits: { dataMb: mappedAtStartMb + memoryMb, fileMb: 32, descriptors: 64, tasks: 64 },
    memoryMb,
    isUnrestricted,
  };
  return spawnIsolated(program, settings);
}

/** The file of the handler of all pieces. */
export function pieceHandler(): string {
  return modulePath(import.meta, '../pieces/child/run-piece');
}

/** The heap limit of V8. It is below the memory limit, so that V8 collects garbage before the memory watch kills the child. */
function heapMb(memoryMb: number): number {
  return Math.max(24, memoryMb - 64);
}
