import { existsSync, mkdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { CgroupRefusal } from './cgroups.ts';
import { codeOf, readProcesses, writeControl } from './control-file.ts';
import type { Place } from './find-places.ts';

/** The group of the server's own process. It stays, because a process leaves a group only by entering another. */
export const serverLeaf = 'quartermaster-server';
/** The maximum number of rounds. Processes may start others while they are moved. */
const mostRounds = 20;

/**
 * Moves every process out of the group if all of them belong to the server: this process, its descendants, and in a
 * container also its ancestors, such as an init process, a shell or npm.
 * @returns a function that moves them back
 */
export function createParentGroup(place: Place): () => void {
  const base = place.folder;
  const leaf = join(base, serverLeaf);
  const moved: number[] = [];
  const undo = (): void => {
    for (const pid of moved) moveTo(base, pid);
    tryRemove(leaf);
  };
  refuseStrangers(place);
  mkdirSync(leaf, { recursive: true });
  try {
    // The server moves first, so that processes it starts later are in the leaf too.
    if (readProcesses(base).includes(process.pid)) moved.push(moveTo(leaf, process.pid));
    for (let round = 0; readProcesses(base).length > 0 && round < mostRounds; round++) {
      refuseStrangers(place);
      for (const pid of readProcesses(base)) moved.push(moveTo(leaf, pid));
    }
  } catch (cause) {
    undo();
    throw cause instanceof CgroupRefusal
      ? cause
      : new CgroupRefusal('the processes of the server cannot be moved', { cause });
  }
  return undo;
}

function moveTo(folder: string, pid: number): number {
  try {
    writeControl(join(folder, 'cgroup.procs'), pid);
  } catch (cause) {
    if (codeOf(cause) !== 'ESRCH') throw cause;
  }
  return pid;
}

function tryRemove(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Another Quartermaster server may be in it.
  }
}

function refuseStrangers({ folder, isHighest }: Place): void {
  const above = new Set(isHighest ? ancestorsOf(process.pid) : []);
  const isOurs = (pid: number): boolean =>
    pid === process.pid || above.has(pid) || isGone(pid) || ancestorsOf(pid).includes(process.pid);
  if (!readProcesses(folder).every(isOurs)) {
    throw new CgroupRefusal('other processes share the control group of the server');
  }
}

/** Whether the process has ended. The id 0 stands for a process of another namespace. */
function isGone(pid: number): boolean {
  return pid > 0 && !existsSync(`/proc/${pid}`);
}

/** Returns the ancestors, the nearest first. The list is empty when the process has ended or is not visible. */
function ancestorsOf(pid: number): number[] {
  const found: number[] = [];
  for (let at = parentOf(pid); at > 0; at = parentOf(at)) found.push(at);
  return found;
}

function parentOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return 0;
  }
}
