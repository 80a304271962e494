import { closeSync, cpSync, ftruncateSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '../support/random.ts';
import type { DataChange, Node, Recording, Sync } from './disk-model.ts';

/**
 * The guarantees of a file system beyond POSIX. `strict`: a name is durable after a later sync of its folder.
 * `ordered`, like ext4: names become durable in order, and any sync makes all earlier names durable.
 */
export type FileSystemModel = 'strict' | 'ordered';

export interface Cut {
  /** The number of log entries before the power cut. */
  readonly at: number;
  readonly model: FileSystemModel;
  /** Probability that an unsynced change reached the disk anyway. Of these changes, a share of 0.4 is torn. */
  readonly survival: number;
  readonly tearing?: boolean;
}

export interface CutCounts {
  readonly durable: number;
  readonly kept: number;
  readonly lost: number;
  readonly torn: number;
}

/** Builds the folder that the machine finds after the power cut. */
export function buildCrashState(recording: Recording, cut: Cut, folder: string, random: Random): CutCounts {
  const counts = { durable: 0, kept: 0, lost: 0, torn: 0 };
  const names = namesAfter(recording, cut, random, counts);
  const build = (node: Node, path: string) => {
    if (!node.isFolder) return buildFile(node, path, { cut, random, counts });
    mkdirSync(path, { mode: 0o700 });
    for (const [name, child] of names.get(node) ?? []) build(child, join(path, name));
  };
  build(recording.root, folder);
  return counts;
}

interface Drawing {
  readonly cut: Cut;
  readonly random: Random;
  readonly counts: { -readonly [K in keyof CutCounts]: number };
}

/** Returns the entries of every folder that survive. */
function namesAfter(recording: Recording, cut: Cut, random: Random, counts: Drawing['counts']) {
  const folders = new Map(recording.nodes.map((node) => [node, new Map(node.live)]));
  const numDurable = cut.model === 'ordered' ? durableBefore(recording.syncs, cut.at) : 0;
  let isCut = false;
  for (const { at, names } of recording.names) {
    if (at >= cut.at) break;
    const folder = names.at(-1)?.folder;
    const isDurable = at < numDurable || (folder !== undefined && at < durableBefore(folder.syncs, cut.at));
    if (isDurable) counts.durable += 1;
    else {
      const survives = !isCut && random.chance(cut.survival);
      // A journal is written in order, so all names after the first lost one are lost.
      if (!survives && cut.model === 'ordered') isCut = true;
      counts[survives ? 'kept' : 'lost'] += 1;
      if (!survives) continue;
    }
    for (const { folder, name, node } of names) {
      const entries = folders.get(folder) ?? new Map();
      folders.set(folder, entries);
      if (node === undefined) entries.delete(name);
      else entries.set(name, node);
    }
  }
  return folders;
}

function durableBefore(syncs: readonly Sync[], cut: number): number {
  return syncs.reduce((latest, { begun, ended }) => (ended < cut ? Math.max(latest, begun) : latest), 0);
}

function buildFile(node: Node, path: string, { cut, random, counts }: Drawing): void {
  if (node.base !== undefined) cpSync(node.base, path, { preserveTimestamps: true });
  const changes = node.changes.filter(({ at }) => at < cut.at);
  if (node.base !== undefined && changes.length === 0) return;
  const durable = durableBefore(node.syncs, cut.at);
  const fd = openSync(path, node.base === undefined ? 'w+' : 'r+', 0o600);
  try {
    for (const change of changes) {
      if (change.at < durable) {
        counts.durable += 1;
        applyChange(fd, change);
      } else if (!random.chance(cut.survival)) counts.lost += 1;
      else if (change.data !== undefined && cut.tearing !== false && random.chance(0.4)) {
        counts.torn += 1;
        tear(fd, change.offset, change.data, random);
      } else {
        counts.kept += 1;
        applyChange(fd, change);
      }
    }
  } finally {
    closeSync(fd);
  }
}

function applyChange(fd: number, { offset, data }: DataChange): void {
  if (data === undefined) ftruncateSync(fd, offset);
  else writeSync(fd, data, 0, data.length, offset);
}

/** Keeps only some sectors of a write. */
function tear(fd: number, offset: number, data: Buffer, random: Random): void {
  const sector = random.chance(0.5) ? 512 : 4096;
  for (let at = 0; at < data.length; ) {
    const end = Math.min(data.length, at + sector - ((offset + at) % sector));
    if (random.chance(0.5)) writeSync(fd, data, at, end - at, offset + at);
    at = end;
  }
}
