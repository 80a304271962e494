import { join } from 'node:path';
import type { Controller } from './cgroups.ts';

/** The group of this process, as a folder. */
export interface Place {
  readonly folder: string;
  /** Whether no higher group is visible: it is the group of the container or of the machine. */
  readonly isHighest: boolean;
}

export interface Places {
  /** Version 2. */
  readonly unified: Place | undefined;
  /** Version 1. */
  readonly byController: Readonly<Partial<Record<Controller, Place>>>;
}

interface Mount {
  /** The mounted part of the hierarchy. */
  readonly root: string;
  readonly point: string;
  readonly type: string;
  /** The mount options; with version 1 they include the names of controllers. */
  readonly options: readonly string[];
}

/** Parses the text of `/proc/self/cgroup` and `/proc/self/mountinfo`. */
export function findPlaces(ownGroups: string, mountInfo: string): Places {
  const mounts = mountInfo.split('\n').flatMap(readMount);
  let unified: Place | undefined;
  const byController: Partial<Record<Controller, Place>> = {};
  for (const line of ownGroups.split('\n')) {
    const [, id, names = '', path = ''] = /^(\d+):([^:]*):(\/.*)$/.exec(line) ?? [];
    if (id === undefined) continue;
    if (id === '0' && names === '') {
      unified = place(
        path,
        mounts.filter(({ type }) => type === 'cgroup2'),
      );
    }
    for (const name of names.split(',')) {
      if (name !== 'memory' && name !== 'pids' && name !== 'cpu') continue;
      const found = place(
        path,
        mounts.filter(({ type, options }) => type === 'cgroup' && options.includes(name)),
      );
      if (found !== undefined) byController[name] = found;
    }
  }
  return { unified, byController };
}

/** Returns undefined when the group is outside every mount. The kernel shows this by `/..`. */
function place(path: string, mounts: readonly Mount[]): Place | undefined {
  for (const { root, point } of mounts) {
    const above = root === '/' ? '' : root;
    if (path !== root && !path.startsWith(`${above}/`)) continue;
    const below = path === root ? '' : path.slice(above.length + 1);
    if (below.split('/')[0] !== '..') return { folder: join(point, below), isHighest: below === '' };
  }
  return undefined;
}

function readMount(line: string): Mount[] {
  const [front = '', back = ''] = line.split(' - ');
  const [, , , root, point] = front.split(' ');
  const [type, , options = ''] = back.split(' ');
  if (root === undefined || point === undefined || type === undefined) return [];
  return [{ root: plain(root), point: plain(point), type, options: options.split(',') }];
}

/** Decodes spaces and similar characters, which the kernel writes as three octal digits. */
function plain(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
