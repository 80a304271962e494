/** The kernel controllers in use; `cpu` only where it is available. */
export type Controller = 'memory' | 'pids' | 'cpu';

/** The control groups of the server, one for each plugin process (ADR 0055). */
export interface Cgroups {
  readonly version: 1 | 2;
  readonly controllers: readonly Controller[];
  /** Creates an empty group and sets its limits. Returns undefined where the system unexpectedly refuses. */
  open(memoryMb: number): Group | undefined;
  /** Waits for groups that are being removed, then removes their parent folders. */
  close(): Promise<void>;
}

export interface Group {
  /** Open descriptors; a process enters the group by writing 0 to each. */
  readonly entrances: readonly number[];
  closeEntrances(): void;
  /** Whether the kernel has killed a process of the group because its memory was exhausted. */
  hasKilledForMemory(): boolean;
  /** Kills every process in the group. */
  killAll(): void;
  /** Kills every process in the group and removes it. Never rejects: a later start removes what remains. */
  remove(): Promise<void>;
}

/** The controllers in force. The reason is safe to show to every user. */
export type CgroupState =
  | { readonly available: true; readonly version: 1 | 2; readonly controllers: readonly Controller[] }
  | { readonly available: false; readonly missing: string };

/** A place where groups can be created, and the names of the limits there. */
export interface Layout {
  readonly version: 1 | 2;
  readonly controllers: readonly Controller[];
  /** The hierarchy of the memory controller comes first. Version 2 has one hierarchy for all controllers. */
  readonly hierarchies: readonly [Hierarchy, ...Hierarchy[]];
  /** A file of the memory group with a line `oom_kill <number>`. */
  readonly memoryEvents: string;
}

export interface Hierarchy {
  /** The parent of the folder that the server creates for its groups. */
  readonly base: string;
  /** Prepares that folder. */
  readonly adopt?: (folder: string) => void;
  readonly limits: (memoryMb: number) => readonly Limit[];
}

/** A value to write to a file of a group. An `isOptional` file is missing on some kernels. */
export interface Limit {
  readonly file: string;
  readonly value: number | string;
  readonly isOptional?: true;
}

/** The machine cannot provide control groups. The message is safe to show to every user; the cause is for the log. */
export class CgroupRefusal extends Error {}

const mebibyte = 1024 ** 2;
/**
 * The memory of the runtime's program. It is resident in each child, but the kernel charges it to the first reader.
 * Measured: 49 MiB.
 */
const sharedMb = 50;
/** Node.js does not start with less memory. */
const leastMb = 64;

/**
 * Returns the memory limit of a group. With it, resident memory ends at a tenth above the limit that the usage watch
 * checks every 50 ms.
 */
export function memoryBytes(limitMb: number): number {
  return Math.max(leastMb, Math.floor(limitMb * 1.1) - sharedMb) * mebibyte;
}

/**
 * The maximum number of tasks. Threads count: Node.js starts six, and four more when it reads files; bubblewrap needs
 * one.
 */
export const mostTasks = 32;

/** Microseconds of processor time in each period, which equals one processor. */
export const cpuPeriod = 100_000;
export const cpuQuota = 100_000;
