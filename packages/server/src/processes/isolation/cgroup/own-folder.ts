import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeAtOnce } from './group.ts';

const shape = /^quartermaster-(\d+)-(\d+)-\d+$/;
let made = 0;

/** For the groups of one sandbox: a process that gets the number of this one later makes other names. */
export function newFolderName(): string {
  return `quartermaster-${process.pid}-${startOf(process.pid)}-${++made}`;
}

/** Removes what servers that were killed have left: folders named by us whose process is gone, and only empty ones. */
export function removeLeftovers(base: string): void {
  for (const name of namesIn(base)) {
    const [, pid, start] = shape.exec(name) ?? [];
    if (pid === undefined || startOf(Number(pid)) === start) continue;
    const folder = join(base, name);
    for (const group of foldersIn(folder)) removeAtOnce(join(folder, group));
    removeAtOnce(folder);
  }
}

/** In ticks since the machine's start; undefined for a process that has ended. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' ? undefined : fields[18];
  } catch {
    return undefined;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((it) => (it.isDirectory() ? [it.name] : []));
  } catch {
    return [];
  }
}
