import { setTimeout } from 'node:timers/promises';
import type { Logger } from '../../../platform/log/logger.ts';
import type { VectorIndex, VectorSpace } from '../embedding/vector-index.ts';
import { openVectorThread, type VectorBatch, type VectorThread } from './open-vector-thread.ts';
import { bytesOfCodes } from './vector-codes.ts';

/** Reads the vectors of the changes after `after` up to the last one of the space, in the order of the changes. */
export type ReadVectors = (space: VectorSpace, after: number) => AsyncIterable<VectorBatch>;

export interface VectorIndexDeps {
  readonly readVectors: ReadVectors;
  /** The maximum number of bytes that the vectors of all collections take in memory. */
  readonly memory: number;
  readonly logger: Logger;
  /** Milliseconds for which a question waits until its vectors are in memory. */
  readonly waitMs?: number;
  /** Milliseconds without a question after which a collection gives its memory to others. */
  readonly idleMs?: number;
}

const defaults = { waitMs: 3_000, idleMs: 60_000 };
/** A space is read again when it was this many times as large, or has this many times as many vectors in memory as there are. */
const mostOutdated = 1.5;
/** Smaller spaces are never read again. */
const leastOutdated = 10_000;

/** A space in the memory of the thread. */
interface HeldSpace {
  readonly dimensions: number;
  /** Vectors in the thread, with those that were deleted or replaced since they were read. */
  count: number;
  /** The vectors of the space when it was read, as the database counts them and as many as were read. */
  countedFirst: number;
  readFirst: number;
  /** The vectors up to this change are in the thread. */
  change: number;
  askedAt: number;
  reading: Promise<void> | undefined;
}

/** Opens an index whose thread starts with the first question. The first question of a collection reads its vectors. */
export function openVectorIndex(deps: VectorIndexDeps): VectorIndex {
  const { readVectors, memory, logger, waitMs, idleMs } = { ...defaults, ...deps };
  const held = new Map<string, HeldSpace>();
  let thread: VectorThread | undefined;
  let isClosed = false;

  function threadNow(): VectorThread {
    thread ??= openVectorThread(() => {
      thread = undefined;
      held.clear();
    });
    return thread;
  }

  function drop(name: string): void {
    if (held.delete(name)) threadNow().ask({ kind: 'drop', space: name }).catch(noop);
  }

  /** Makes room for `needed` bytes, if others were not asked for long. */
  function reserve(name: string, needed: number): boolean {
    const sizeOf = ({ dimensions, count }: HeldSpace) => bytesOfCodes(dimensions, count);
    let free = memory;
    for (const [other, state] of held) if (other !== name) free -= sizeOf(state);
    for (const [other, state] of [...held].sort(([, a], [, b]) => a.askedAt - b.askedAt)) {
      if (free >= needed || performance.now() - state.askedAt < idleMs) break;
      if (other === name) continue;
      drop(other);
      free += sizeOf(state);
    }
    return free >= needed;
  }

  /** @returns undefined when the memory is too small */
  function hold(name: string, space: VectorSpace): HeldSpace | undefined {
    const known = held.get(name);
    if (known !== undefined && isOutdated(known, space)) drop(name);
    if (!reserve(name, bytesOfCodes(space.dimensions, space.count))) {
      drop(name);
      return undefined;
    }
    const { dimensions, firstChange: change, count } = space;
    // The vectors that will be read count at once, so that two collections do not take the same room.
    const first = { count, countedFirst: count, readFirst: count };
    const state = held.get(name) ?? { ...first, dimensions, change, askedAt: 0, reading: undefined };
    held.set(name, state);
    state.askedAt = performance.now();
    return state;
  }

  async function read(name: string, state: HeldSpace, space: VectorSpace): Promise<void> {
    if (state.change >= space.lastChange) return;
    const { dimensions } = space;
    const isFirst = state.change === space.firstChange;
    let count = isFirst ? 0 : state.count;
    for await (const batch of readVectors(space, state.change)) {
      if (isClosed || held.get(name) !== state) return;
      await threadNow().ask({ kind: 'add', space: name, dimensions, ...batch });
      count += batch.seqs.length;
    }
    state.count = count;
    if (isFirst) state.readFirst = count;
    state.change = space.lastChange;
  }

  /** Reads what the thread lacks, once at a time. */
  async function bringUp(name: string, state: HeldSpace, space: VectorSpace): Promise<void> {
    while (state.reading !== undefined) await state.reading;
    if (state.change >= space.lastChange) return;
    state.reading = read(name, state, space).finally(() => {
      state.reading = undefined;
    });
    // Part of the vectors may be there. They are read again.
    await state.reading.catch((error: unknown) => {
      drop(name);
      throw error;
    });
  }

  const nameOf = ({ collectionId, firstChange }: VectorSpace) => `${collectionId} ${firstChange}`;
  return {
    async load(space) {
      const name = nameOf(space);
      const state = hold(name, space);
      if (state === undefined) {
        const message = 'vectors do not fit into the memory, raise QUARTERMASTER_VECTOR_MEMORY_MB';
        logger.warn({ collection_id: space.collectionId, vectors: space.count }, message);
        return false;
      }
      if (state.change >= space.lastChange) return true;
      const isThere = bringUp(name, state, space).then(() => state.change >= space.lastChange);
      return Promise.race([isThere, setTimeout(waitMs, false, { ref: false })]);
    },
    nearest: (space, query, count) => threadNow().ask({ kind: 'nearest', space: nameOf(space), query, count }),
    async close() {
      isClosed = true;
      await Promise.allSettled([...held.values()].map(({ reading }) => reading));
      await thread?.close();
    },
  };
}

function isOutdated({ count, countedFirst, readFirst }: HeldSpace, space: VectorSpace): boolean {
  const most = (there: number) => Math.max(leastOutdated, mostOutdated * there);
  return count > most(Math.max(readFirst, space.count)) || countedFirst > most(space.count);
}

function noop(): void {}
