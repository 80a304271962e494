import { closeSync, constants, existsSync, mkdirSync, openSync, readFileSync, rmdirSync } from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Group, Layout } from './cgroups.ts';
import { codeOf, readProcesses, writeControl } from './control-file.ts';

/** The number of attempts to remove a group. Ended processes leave it with a short delay. */
const removeTries = 250;
const pauseMs = 20;

export interface GroupPlan {
  readonly layout: Layout;
  /** The folders of the group, one for each hierarchy of the layout. */
  readonly folders: readonly string[];
  readonly memoryMb: number;
}

/** Creates a group: a folder in each hierarchy. If the system refuses, it throws and leaves no folder. */
export function createControlGroup({ layout, folders, memoryMb }: GroupPlan): Group {
  const entrances: number[] = [];
  const closeEntrances = (): void => {
    for (const entrance of entrances.splice(0)) closeSync(entrance);
  };
  try {
    for (const [at, { limits }] of layout.hierarchies.entries()) {
      const folder = folders[at] ?? '';
      mkdirSync(folder);
      for (const { file, value, isOptional } of limits(memoryMb)) {
        const path = join(folder, file);
        if (isOptional === undefined || existsSync(path)) writeControl(path, value);
      }
      entrances.push(openSync(join(folder, 'cgroup.procs'), constants.O_WRONLY));
    }
  } catch (cause) {
    closeEntrances();
    for (const folder of folders) removeAtOnce(folder);
    throw cause;
  }
  return {
    entrances,
    closeEntrances,
    hasKilledForMemory: () => countKills(join(folders[0] ?? '', layout.memoryEvents)) > 0,
    killAll: () => {
      for (const folder of folders) killAllIn(folder);
    },
    remove: async () => {
      await Promise.all(folders.map(removeWhenEmpty));
    },
  };
}

function countKills(path: string): number {
  try {
    return Number(/^oom_kill (\d+)$/m.exec(readFileSync(path, 'latin1'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

function killAllIn(folder: string): void {
  try {
    // This kills all processes at once, including those that are being started.
    writeControl(join(folder, 'cgroup.kill'), 1);
  } catch {
    killEachIn(folder);
  }
}

/** Kills each process by its id. Used with version 1 and with kernels before 5.14. */
function killEachIn(folder: string): void {
  try {
    for (const pid of readProcesses(folder)) if (pid > 0) process.kill(pid, 'SIGKILL');
  } catch {
    // The group or one of its processes has ended. Removal repeats until it succeeds.
  }
}

async function removeWhenEmpty(folder: string): Promise<void> {
  for (let tries = 0; tries < removeTries; tries++) {
    try {
      return await rmdir(folder);
    } catch (cause) {
      if (codeOf(cause) !== 'EBUSY') return;
      killAllIn(folder);
      await pause(pauseMs);
    }
  }
}

/** @returns whether the folder no longer exists */
export function removeAtOnce(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (cause) {
    return codeOf(cause) === 'ENOENT';
  }
}
