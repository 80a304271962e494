import { accessSync, constants, existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { cpuPeriod, cpuQuota, memoryBytes, mostTasks } from './bounds.ts';
import { CgroupRefusal, type Controller, type Layout, type Limit } from './cgroups.ts';
import { readWords, writeControl } from './control-file.ts';
import { createParentGroup, serverLeaf } from './create-parent-group.ts';
import type { Place, Places } from './find-places.ts';

/**
 * One hierarchy for all controllers. A group may hold processes or hand controllers to groups within it, not both, but
 * for that of the machine: the server's own process goes to a leaf, and only out of a group that it has for itself.
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

/** A server before this one, or another part of this one, may have moved us there already. */
function withoutLeaf(place: Place): Place {
  if (basename(place.folder) !== serverLeaf) return place;
  const above = dirname(place.folder);
  // Above the highest there is another file system.
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
  const given = readWords(join(base, 'cgroup.subtree_control'));
  if (['memory', 'pids'].every((name) => given.includes(name))) return;
  // The group of the machine has no type, and no such rule.
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
    // Where the kernel has real-time processes in it, for example. The rest is worth having.
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
