import { accessSync, constants } from 'node:fs';
import {
  CgroupRefusal,
  cpuPeriod,
  cpuQuota,
  type Hierarchy,
  type Layout,
  type Limit,
  memoryBytes,
  mostTasks,
} from './cgroups.ts';
import type { Places } from './find-places.ts';

/** Each controller has its own hierarchy. A process may be in any group of each, so no process needs to move. */
export function layoutOfVersion1({ byController }: Places): Layout {
  const { memory, pids, cpu } = byController;
  if (memory === undefined || pids === undefined) {
    throw new CgroupRefusal('no control groups offer memory and pids');
  }
  for (const { folder } of [memory, pids]) {
    if (!isWritable(folder)) throw new CgroupRefusal('the control group of the server is not writable');
  }
  const hierarchies: [Hierarchy, ...Hierarchy[]] = [
    { base: memory.folder, limits: memoryLimits },
    { base: pids.folder, limits: () => [{ file: 'pids.max', value: mostTasks }] },
  ];
  const hasCpu = cpu !== undefined && isWritable(cpu.folder);
  if (hasCpu) hierarchies.push({ base: cpu.folder, limits: cpuLimits });
  return {
    version: 1,
    controllers: hasCpu ? ['memory', 'pids', 'cpu'] : ['memory', 'pids'],
    hierarchies,
    memoryEvents: 'memory.oom_control',
  };
}

function memoryLimits(memoryMb: number): Limit[] {
  const value = memoryBytes(memoryMb);
  return [
    { file: 'memory.limit_in_bytes', value },
    // This limits memory and swap together. The same value means no swap; a lower value is not allowed.
    { file: 'memory.memsw.limit_in_bytes', value, isOptional: true },
    // Without this, the setting is inherited, and a process that waits for memory could wait for ever.
    { file: 'memory.oom_control', value: 0 },
  ];
}

function cpuLimits(): Limit[] {
  return [
    { file: 'cpu.cfs_period_us', value: cpuPeriod, isOptional: true },
    { file: 'cpu.cfs_quota_us', value: cpuQuota, isOptional: true },
  ];
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
