import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeAtOnce } from './group.ts';

const shape = /^quartermaster-(\d+)-(\d+)-\d+$/;
let created = 0;

/** Returns a unique folder name for one set of groups. A later process with the same id gets other names. */
export function newFolderName(): string {
  return `quartermaster-${process.pid}-${startOf(process.pid)}-${++created}`;
}

/** Removes the empty folders of servers that were killed. Their names contain the id of a process that has ended. */
export function removeLeftovers(base: string): void {
  for (const name of namesIn(base)) {
    const [, pid, start] = shape.exec(name) ?? [];
    if (pid === undefined || startOf(Number(pid)) === start) continue;
    const folder = join(base, name);
    for (const group of foldersIn(folder)) removeAtOnce(join(folder, group));
    removeAtOnce(folder);
  }
}

/** The start time in ticks since the machine's start; undefined for a process that has ended. */
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
