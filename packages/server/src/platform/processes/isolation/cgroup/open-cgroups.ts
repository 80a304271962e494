import { type StdioOptions, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Logger } from '../../../log/logger.ts';
import { CgroupRefusal, type CgroupState, type Cgroups, type Group, type Layout } from './cgroups.ts';
import { enterBefore } from './enter.ts';
import { findPlaces, type Places } from './find-places.ts';
import { createControlGroup, removeAtOnce } from './group.ts';
import { layoutOfVersion1 } from './version-1.ts';
import { layoutOfVersion2 } from './version-2.ts';

export interface CgroupProbe {
  readonly state: CgroupState;
  /** Undefined when `state` reports none. */
  readonly cgroups: Cgroups | undefined;
}

export interface CgroupOptions {
  /** The user of plugin processes; undefined when it is that of the server. */
  readonly user: number | undefined;
  readonly logger: Logger;
}

/** Finds where the server can create control groups, removes leftover groups, and tests that a process can enter. */
export async function openCgroups({ user, logger }: CgroupOptions): Promise<CgroupProbe> {
  try {
    const layout = findLayout();
    for (const { base } of layout.hierarchies) removeLeftovers(base);
    const cgroups = openLayout(layout, logger);
    if (!(await canEnter(cgroups, user).catch(() => false))) {
      await cgroups.close();
      throw new CgroupRefusal('control groups cannot be entered here');
    }
    const { version, controllers } = layout;
    return { cgroups, state: { available: true, version, controllers } };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const missing = cause instanceof CgroupRefusal ? reason : 'control groups do not work here (the log says why)';
    logger.info({ reason }, 'control groups not available: prlimit and memory monitoring limit plugins');
    return { cgroups: undefined, state: { available: false, missing } };
  }
}

export const cgroupsOff: CgroupProbe = { cgroups: undefined, state: { available: false, missing: 'switched off' } };

function findLayout(): Layout {
  if (process.platform !== 'linux') throw new CgroupRefusal('control groups need Linux');
  const read = (name: string): string => readFileSync(`/proc/self/${name}`, 'utf8');
  const places: Places = findPlaces(read('cgroup'), read('mountinfo'));
  // A machine may mount the controllers for one version only. The refusal of that version is reported.
  return places.byController.memory === undefined ? layoutOfVersion2(places) : layoutOfVersion1(places);
}

/** Creates the parent folders of the groups. */
function openLayout(layout: Layout, logger: Logger): Cgroups {
  const name = newFolderName();
  const folders = layout.hierarchies.map(({ base }) => join(base, name));
  const removals = new Set<Promise<void>>();
  let opened = 0;
  let isRefused = false;
  const removeOwn = (): void => {
    for (const folder of folders) removeAtOnce(folder);
  };
  try {
    for (const [at, { adopt }] of layout.hierarchies.entries()) {
      mkdirSync(folders[at] ?? '');
      adopt?.(folders[at] ?? '');
    }
  } catch (cause) {
    removeOwn();
    throw cause;
  }

  function tracked(group: Group): Group {
    const remove = async (): Promise<void> => {
      const removal = group.remove();
      removals.add(removal);
      await removal;
      removals.delete(removal);
    };
    return { ...group, remove };
  }

  function open(memoryMb: number): Group | undefined {
    opened += 1;
    try {
      const group = createControlGroup({
        layout,
        folders: folders.map((folder) => join(folder, String(opened))),
        memoryMb,
      });
      isRefused = false;
      return tracked(group);
    } catch (cause) {
      if (!isRefused) logger.warn({ err: cause }, 'plugin process started without a control group');
      isRefused = true;
      return undefined;
    }
  }

  return {
    version: layout.version,
    controllers: layout.controllers,
    open,
    close: async () => {
      await Promise.all(removals);
      removeOwn();
    },
  };
}

/** Tests whether a process arrives in its group. Leaves no group. */
async function canEnter(cgroups: Cgroups, user: number | undefined): Promise<boolean> {
  const group = cgroups.open(256);
  if (group === undefined) return false;
  try {
    const expected = group.entrances.length;
    const found = await probeGroup(group, user);
    return found.match(/\/quartermaster-\d+-\d+-\d+\/\d+$/gm)?.length === expected;
  } finally {
    group.closeEntrances();
    await group.remove();
  }
}

const shape = /^quartermaster-(\d+)-(\d+)-\d+$/;
let created = 0;

/** Returns a unique folder name for one set of groups. A later process with the same id gets other names. */
function newFolderName(): string {
  return `quartermaster-${process.pid}-${startOf(process.pid)}-${++created}`;
}

/** Removes the empty folders of servers that were killed. Their names contain the id of a process that has ended. */
function removeLeftovers(base: string): void {
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

/** Starts a process in the group, as plugin children do. Returns what it reports about its groups. */
async function probeGroup(group: Group, user: number | undefined): Promise<string> {
  const stdio: StdioOptions = ['ignore', 'pipe', 'ignore', ...group.entrances];
  const [command = '', ...args] = enterBefore(
    ['/bin/cat', '/proc/self/cgroup'],
    group.entrances.map((_, at) => 3 + at),
  );
  const child = spawn(command, args, {
    env: {},
    cwd: '/',
    stdio,
    ...(user === undefined ? {} : { uid: user, gid: user }),
  });
  child.on('error', () => {});
  const ended = new Promise((resolve) => child.once('close', resolve));
  const found = child.stdout === null ? '' : await text(child.stdout);
  await ended;
  return found;
}
