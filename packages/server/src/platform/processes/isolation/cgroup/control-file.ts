import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs';

/** Unlike `writeFile`, it never creates the file. Creating would report a missing file as a denied permission. */
export function writeControl(path: string, value: number | string): void {
  const descriptor = openSync(path, constants.O_WRONLY);
  try {
    writeSync(descriptor, String(value));
  } finally {
    closeSync(descriptor);
  }
}

/** Returns the words of a file with one line. */
export function readWords(path: string): string[] {
  return readFileSync(path, 'latin1').split(/\s+/).filter(Boolean);
}

/** Returns the process ids of a group. The id 0 stands for a process outside this process namespace. */
export function readProcesses(folder: string): number[] {
  return readWords(`${folder}/cgroup.procs`).map(Number);
}

export function codeOf(cause: unknown): unknown {
  return cause instanceof Error && 'code' in cause ? cause.code : undefined;
}
