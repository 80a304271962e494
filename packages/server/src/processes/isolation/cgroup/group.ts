import { closeSync, constants, existsSync, mkdirSync, openSync, readFileSync, rmdirSync } from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Group, Layout } from './cgroups.ts';
import { codeOf, readProcesses, writeControl } from './control-file.ts';

/** Ended processes leave a group a moment later. */
const removeTries = 250;
const pauseMs = 20;

export interface GroupPlan {
  readonly layout: Layout;
  /** One for each hierarchy of the layout. */
  readonly folders: readonly string[];
  readonly memoryMb: number;
}

/** Makes a group: a folder in each hierarchy. Throws where the system refuses, and leaves nothing then. */
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
    // All at once; what is being started too.
    writeControl(join(folder, 'cgroup.kill'), 1);
  } catch {
    killEachIn(folder);
  }
}

/** Version 1, and kernels before 5.14. Few at most: their number is limited. */
function killEachIn(folder: string): void {
  try {
    for (const pid of readProcesses(folder)) if (pid > 0) process.kill(pid, 'SIGKILL');
  } catch {
    // It is gone, or one of them is: another look is taken until the group can be removed.
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

/** True when it is gone. */
export function removeAtOnce(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (cause) {
    return codeOf(cause) === 'ENOENT';
  }
}
