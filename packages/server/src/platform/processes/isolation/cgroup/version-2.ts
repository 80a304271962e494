import { accessSync, constants, existsSync, mkdirSync, readFileSync, rmdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import {
  CgroupRefusal,
  type Controller,
  cpuPeriod,
  cpuQuota,
  type Layout,
  type Limit,
  memoryBytes,
  mostTasks,
} from './cgroups.ts';
import { codeOf, readProcesses, readWords, writeControl } from './control-file.ts';
import type { Place, Places } from './find-places.ts';

/**
 * Version 2 has one hierarchy for all controllers. Except for the root group, a group holds either processes or child
 * groups with controllers. The server therefore moves its process to a leaf, and only out of a group that it has to
 * itself.
 */
export function layoutOfVersion2({ unified }: Places): Layout {
  if (unified === undefined) throw new CgroupRefusal('no control groups offer memory and pids');
  const place = withoutLeaf(unified);
  const base = place.folder;
  const offered = readWords(join(base, 'cgroup.controllers'));
  if (!['memory', 'pids'].every((name) => offered.includes(name))) {
    throw new CgroupRefusal('no control groups offer memory and pids');
  }
  assertWritable(base);
  handDown(place);
  const controllers = readWords(join(base, 'cgroup.subtree_control')).filter(isUsed);
  return {
    version: 2,
    controllers,
    hierarchies: [
      {
        base,
        adopt: (folder) => enable(folder, controllers),
        limits: (memoryMb) => limitsOf(memoryMb, controllers.includes('cpu')),
      },
    ],
    memoryEvents: 'memory.events',
  };
}

/**
 * Returns the group above the leaf. An earlier server, or another part of this one, may have moved this process there.
 */
function withoutLeaf(place: Place): Place {
  if (basename(place.folder) !== serverLeaf) return place;
  const above = dirname(place.folder);
  // Above the highest group there is another file system.
  return existsSync(join(above, 'cgroup.controllers')) ? { ...place, folder: above } : place;
}

function assertWritable(base: string): void {
  for (const name of ['.', 'cgroup.procs', 'cgroup.subtree_control']) {
    try {
      accessSync(join(base, name), constants.W_OK);
    } catch (cause) {
      throw new CgroupRefusal('the control group of the server is not writable', { cause });
    }
  }
}

function handDown(place: Place): void {
  const base = place.folder;
  const enabled = readWords(join(base, 'cgroup.subtree_control'));
  if (['memory', 'pids'].every((name) => enabled.includes(name))) return;
  // The root group has no type, and this rule does not apply to it.
  const type = join(base, 'cgroup.type');
  if (existsSync(type) && readWords(type).join(' ') !== 'domain') {
    throw new CgroupRefusal('the control group of the server holds threads of others');
  }
  const undo = existsSync(type) ? createParentGroup(place) : () => {};
  try {
    enable(base, ['memory', 'pids']);
  } catch (cause) {
    undo();
    throw new CgroupRefusal('the control group of the server may not be divided', { cause });
  }
  try {
    enable(base, ['cpu']);
  } catch {
    // The kernel refuses when the group has real-time processes, for example. The other controllers are still useful.
  }
}

function enable(folder: string, controllers: readonly Controller[]): void {
  writeControl(join(folder, 'cgroup.subtree_control'), controllers.map((name) => `+${name}`).join(' '));
}

function isUsed(name: string): name is Controller {
  return name === 'memory' || name === 'pids' || name === 'cpu';
}

function limitsOf(memoryMb: number, hasCpu: boolean): Limit[] {
  return [
    { file: 'memory.max', value: memoryBytes(memoryMb) },
    { file: 'memory.swap.max', value: 0, isOptional: true },
    { file: 'memory.oom.group', value: 1, isOptional: true },
    { file: 'pids.max', value: mostTasks },
    ...(hasCpu ? [{ file: 'cpu.max', value: `${cpuQuota} ${cpuPeriod}`, isOptional: true as const }] : []),
  ];
}

/** The group of the server's own process. It stays, because a process leaves a group only by entering another. */
const serverLeaf = 'quartermaster-server';
/** The maximum number of rounds. Processes may start others while they are moved. */
const mostRounds = 20;

/**
 * Moves every process out of the group if all of them belong to the server: this process, its descendants, and in a
 * container also its ancestors, such as an init process, a shell or npm.
 * @returns a function that moves them back
 */
function createParentGroup(place: Place): () => void {
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
