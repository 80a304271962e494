import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs';

/** Unlike `writeFile` it never makes the file, which would tell as a denied right what is a file that is not there. */
export function writeControl(path: string, value: number | string): void {
  const descriptor = openSync(path, constants.O_WRONLY);
  try {
    writeSync(descriptor, String(value));
  } finally {
    closeSync(descriptor);
  }
}

/** Words, of a file with one line. */
export function readWords(path: string): string[] {
  return readFileSync(path, 'latin1').split(/\s+/).filter(Boolean);
}

/** The processes of a group; 0 stands for one that cannot be seen from here. */
export function readProcesses(folder: string): number[] {
  return readWords(`${folder}/cgroup.procs`).map(Number);
}

export function codeOf(cause: unknown): unknown {
  return cause instanceof Error && 'code' in cause ? cause.code : undefined;
}
