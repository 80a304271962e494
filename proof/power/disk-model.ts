import { cpSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { LogEntry } from '../shim/disk-log.ts';

/** A file or folder, independent of its names. */
export interface Node {
  readonly isFolder: boolean;
  /** Its path in the copy from before the recording; absent if it was created during the recording. */
  readonly base?: string;
  /** The names that the running system saw. */
  readonly live: Map<string, Node>;
  readonly changes: DataChange[];
  readonly syncs: Sync[];
}

/** Bytes written at an offset, or a new length. */
export interface DataChange {
  readonly at: number;
  readonly offset: number;
  /** `undefined`: the file is truncated or extended to `offset`. */
  readonly data?: Buffer;
}

/** A sync. Changes before `begun` are durable after `ended`. */
export interface Sync {
  readonly begun: number;
  readonly ended: number;
}

/**
 * Names that change together, such as those of a rename. The sync of the last named folder makes the change durable.
 */
export interface NameChange {
  readonly at: number;
  readonly names: ReadonlyArray<{ readonly folder: Node; readonly name: string; readonly node: Node | undefined }>;
}

export interface Mark {
  readonly at: number;
  readonly text: string;
}

/** All changes of a folder, as a disk receives them. */
export interface Recording {
  readonly root: Node;
  readonly nodes: readonly Node[];
  readonly names: readonly NameChange[];
  /** The ends of all syncs, in order. */
  readonly syncs: readonly Sync[];
  readonly marks: readonly Mark[];
  /** Number of entries. A cut is between 0 and this number. */
  readonly length: number;
}

/** Copies the folder to `copy` before the recording. Returns the tree and its inodes, which the log refers to. */
export function takeBase(folder: string, copy: string): { root: Node; byInode: Map<bigint, Node> } {
  cpSync(folder, copy, { recursive: true, preserveTimestamps: true });
  const byInode = new Map<bigint, Node>();
  const visit = (path: string, base: string): Node => {
    const found = lstatSync(path, { bigint: true });
    const node: Node = { isFolder: found.isDirectory(), base, live: new Map(), changes: [], syncs: [] };
    byInode.set(found.ino, node);
    if (node.isFolder) {
      for (const name of readdirSync(path)) node.live.set(name, visit(join(path, name), join(base, name)));
    }
    return node;
  };
  return { root: visit(folder, copy), byInode };
}

/**
 * Applies the log. It ignores writes to files that match `ignored`, because their content does not matter after a power
 * cut.
 */
export function followLog(
  { root, byInode }: ReturnType<typeof takeBase>,
  entries: readonly LogEntry[],
  ignored: RegExp,
): Recording {
  const nodes = [...byInode.values()];
  const names: NameChange[] = [];
  const syncs: Sync[] = [];
  const marks: Mark[] = [];
  const begun = new Map<string, { at: number; node: Node }>();
  const initial = new Map(nodes.map((node) => [node, new Map(node.live)]));

  const apply = (at: number, ...changed: Array<readonly [string, Node | undefined]>) => {
    const change = changed.map(([path, node]) => ({ ...placeOf(root, path), node }));
    for (const { folder, name, node } of change) node ? folder.live.set(name, node) : folder.live.delete(name);
    names.push({ at, names: change });
  };
  const create = (inode: bigint, isFolder: boolean): Node => {
    const node: Node = { isFolder, live: new Map(), changes: [], syncs: [] };
    byInode.set(inode, node);
    nodes.push(node);
    return node;
  };

  for (const [at, { kind, path, to, inode, offset, length, result, data }] of entries.entries()) {
    const node = byInode.get(inode);
    const thread = `${result}:${inode}`;
    if (kind === 'created' || kind === 'made') apply(at, [path, create(inode, kind === 'made')]);
    else if (kind === 'renamed') apply(at, [path, undefined], [to, find(root, path)]);
    else if (kind === 'linked') apply(at, [to, find(root, path)]);
    else if (kind === 'unlinked' || kind === 'removed') apply(at, [path, undefined]);
    else if (kind === 'mark') marks.push({ at, text: data.toString() });
    else if (kind === 'fault' || ignored.test(path)) continue;
    else if (kind === 'unseen') throw new Error(`a change of ${path} passed the recorder by`);
    else if (node === undefined) throw new Error(`${kind} ${path}: a file that was never created`);
    else if (kind === 'written') node.changes.push({ at, offset, data });
    else if (kind === 'truncated') node.changes.push({ at, offset: length });
    else if (kind === 'sync-begun') begun.set(thread, { at, node });
    else if (kind === 'sync-ended') {
      const start = begun.get(thread);
      if (start === undefined) throw new Error(`a sync of ${path} ended that never began`);
      const sync = { begun: start.at, ended: at };
      start.node.syncs.push(sync);
      syncs.push(sync);
    } else throw new Error(`${kind} ${path} is not understood`);
  }
  // The replay changed the tree, so it is reset to its state before the recording.
  for (const node of nodes) {
    node.live.clear();
    for (const [name, child] of initial.get(node) ?? []) node.live.set(name, child);
  }
  return { root, nodes, names, syncs, marks, length: entries.length };
}

function find(root: Node, path: string): Node {
  if (path === '') return root;
  const { folder, name } = placeOf(root, path);
  const node = folder.live.get(name);
  if (node === undefined) throw new Error(`${path} is not known`);
  return node;
}

function placeOf(root: Node, path: string): { folder: Node; name: string } {
  const parts = path.split('/').filter((part) => part !== '');
  const name = parts.pop() ?? '';
  return { folder: find(root, parts.join('/')), name };
}
