import { accessSync, constants, existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { cpuPeriod, cpuQuota, memoryBytes, mostTasks } from './bounds.ts';
import { CgroupRefusal, type Controller, type Layout, type Limit } from './cgroups.ts';
import { readWords, writeControl } from './control-file.ts';
import { createParentGroup, serverLeaf } from './create-parent-group.ts';
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
