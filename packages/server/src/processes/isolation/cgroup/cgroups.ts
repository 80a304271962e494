/** The controllers of the kernel that are used; `cpu` where it can be had. */
export type Controller = 'memory' | 'pids' | 'cpu';

/** Control groups of the server's own, one for each process of plugins (ADR 0055). */
export interface Cgroups {
  readonly version: 1 | 2;
  readonly controllers: readonly Controller[];
  /** Makes an empty group with its limits in force. Undefined where the system refuses it against expectation. */
  open(memoryMb: number): Group | undefined;
  /** Waits for groups that are being removed, then removes what they were made in. */
  close(): Promise<void>;
}

export interface Group {
  /** Open descriptors; a process enters the group by writing 0 to each. */
  readonly entrances: readonly number[];
  closeEntrances(): void;
  /** Whether the kernel has ended a process of the group for want of memory. */
  hasKilledForMemory(): boolean;
  /** Ends whatever is in it. */
  killAll(): void;
  /** Ends whatever is in it and removes it. Never rejects: what cannot be removed is so at a later start. */
  remove(): Promise<void>;
}

/** What is in force; the reason is fit for everybody's eyes. */
export type CgroupState =
  | { readonly available: true; readonly version: 1 | 2; readonly controllers: readonly Controller[] }
  | { readonly available: false; readonly missing: string };

/** A place where groups can be made, and how the limits are called there. */
export interface Layout {
  readonly version: 1 | 2;
  readonly controllers: readonly Controller[];
  /** That of memory is the first. Version 2 has one for all controllers. */
  readonly hierarchies: readonly [Hierarchy, ...Hierarchy[]];
  /** A file of the memory's group with a line `oom_kill <number>`. */
  readonly memoryEvents: string;
}

export interface Hierarchy {
  /** Where the server makes a folder of its own for its groups. */
  readonly base: string;
  /** Prepares that folder. */
  readonly adopt?: (folder: string) => void;
  readonly limits: (memoryMb: number) => readonly Limit[];
}

/** What is written to a file of a group. Not every kernel has every file that `isOptional`. */
export interface Limit {
  readonly file: string;
  readonly value: number | string;
  readonly isOptional?: true;
}

/** The machine cannot give control groups; the message is fit for everybody's eyes, the cause is for the log. */
export class CgroupRefusal extends Error {}
