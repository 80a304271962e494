import { closeSync, openSync, readSync, writeSync } from 'node:fs';

/** Calls that are counted and can fail, in the order of `enum call` in disk-shim.c. */
export const calls = [
  ...(['open', 'create', 'read', 'write', 'truncate', 'allocate'] as const),
  ...(['rename', 'unlink', 'link', 'mkdir', 'rmdir', 'sync'] as const),
];
export type CallName = (typeof calls)[number];

/** Number of classes in the control file. The last one is "other". */
export const mostClasses = 16;
const plansAt = 80;
const countsAt = 208;
export const controlBytes = countsAt + calls.length * mostClasses * 8;

/** Values of errno for Linux on x86-64 and arm64. `SHORT`: half of the bytes are written or read. */
export const faultErrors = { EIO: 5, ENOSPC: 28, EDQUOT: 122, EMFILE: 24, EINTR: 4, SHORT: -1 } as const;
export type FaultError = keyof typeof faultErrors;

export interface Fault {
  readonly call: CallName;
  /** Index of a class. */
  readonly fileClass: number;
  /** The first call that fails, counted from 1 since the fault was set. */
  readonly nth: number;
  /** Whether all later calls fail as well. For EINTR, only the first 20 fail. */
  readonly persistent: boolean;
  readonly error: FaultError;
}

/** The memory that the driver shares with the shim through the page cache. */
export interface Control {
  setRecording(on: boolean): void;
  setFault(fault: Fault | undefined): void;
  /** Returns the number of calls that have failed since the fault was set. */
  faultHits(): number;
  /** Returns the number of calls so far: by call, then by class. */
  counts(): readonly (readonly number[])[];
  close(): void;
}

export function openControl(path: string): Control {
  const fd = openSync(path, 'r+');
  const write32 = (at: number, ...values: number[]) => writeSync(fd, new Int32Array(values), 0, values.length * 4, at);
  const read = (at: number, bytes: number) => {
    const data = Buffer.alloc(bytes);
    readSync(fd, data, 0, bytes, at);
    return data;
  };
  return {
    setRecording: (on) => void write32(68, on ? 1 : 0),
    setFault: (fault) => {
      write32(72, 0);
      if (fault === undefined) return;
      const { call, fileClass, nth, persistent, error } = fault;
      write32(plansAt, calls.indexOf(call), fileClass, nth, persistent ? 1 : 0, faultErrors[error], 0, 0, 0);
      write32(72, 1);
    },
    faultHits: () => read(plansAt + 24, 4).readInt32LE(),
    counts: () =>
      calls.map((_, call) => {
        const row = read(countsAt + call * mostClasses * 8, mostClasses * 8);
        return Array.from({ length: mostClasses }, (__, index) => Number(row.readBigUInt64LE(index * 8)));
      }),
    close: () => closeSync(fd),
  };
}
