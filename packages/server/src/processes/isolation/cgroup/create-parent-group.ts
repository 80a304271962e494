import { existsSync, mkdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { CgroupRefusal } from './cgroups.ts';
import { codeOf, readProcesses, writeControl } from './control-file.ts';
import type { Place } from './find-places.ts';

/** Where the server's own process goes. It stays: a group cannot be left for nothing. */
export const serverLeaf = 'quartermaster-server';
/** Processes may be starting others while they are moved. */
const mostRounds = 20;

/**
 * Moves every process out of the group, when all of them are ours: this one and those it has started, and in a
 * container also those that have started it, such as an init, a shell or npm.
 * @returns moves them back
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
    // What it starts from now on is there too.
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
    // Another server of ours may be in it.
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

/** 0 stands for a process of another namespace. */
function isGone(pid: number): boolean {
  return pid > 0 && !existsSync(`/proc/${pid}`);
}

/** The nearest first. Empty for a process that is gone, and for one that cannot be seen. */
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
