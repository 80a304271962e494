import type { NearVectors, VectorIndex, VectorSpace } from '../embedding/vector-index.ts';
import { openPageThread, type PageThread } from './open-page-thread.ts';
import type { PageBytes } from './page-format.ts';
import type { ListedPage, MissingPage, PageAnswer, TailVectors } from './page-protocol.ts';

/** Reads stored pages, and vectors that may not be in pages. */
export interface PageSource {
  /** Returns the pages of a space, oldest first. */
  listPages(space: VectorSpace): Promise<readonly ListedPage[]>;
  /** @returns undefined when the page has been replaced */
  readPage(id: number): Promise<PageBytes | undefined>;
  /** Reads the part `scan` only. */
  readScan(id: number): Promise<Uint8Array | undefined>;
  /** Reads the vectors of the changes after `after` up to the last one of the space, in parts, in the order of the changes. */
  readTail(space: VectorSpace, after: number): AsyncIterable<TailVectors>;
}

export interface VectorIndexDeps {
  readonly source: PageSource;
  /** The maximum number of bytes that the pages of all collections take in memory. */
  readonly memory: number;
}

/** The maximum number of vectors that are read for a question because they are not in pages. They soon will be. */
const longestTail = 65_536;
/** A question begins again when a page was replaced while it was read. */
const attempts = 5;

interface KnownSpace {
  readonly pageVersion: number;
  /** The vectors up to this change are in pages or in the tail. */
  readonly change: number;
  /** Vectors of the tail. */
  readonly tail: number;
}

/**
 * Opens an index whose thread starts with the first question. The thread holds pages and the vectors that are not in pages.
 * Pages that do not fit into the memory are read for each question.
 */
export function openVectorIndex({ source, memory }: VectorIndexDeps): VectorIndex {
  let thread: PageThread | undefined;
  /** What the thread has, by the name of the space. */
  const known = new Map<string, KnownSpace>();
  const following = new Map<string, Promise<boolean>>();

  function threadNow(): PageThread {
    thread ??= openPageThread(memory, () => {
      thread = undefined;
      known.clear();
    });
    return thread;
  }

  /** @returns false when too many vectors are not in pages */
  async function bringUp(name: string, space: VectorSpace): Promise<boolean> {
    let state = known.get(name);
    if (state === undefined || state.pageVersion < space.pageVersion) {
      known.delete(name);
      const pages = await source.listPages(space);
      await threadNow().ask({ kind: 'open', space: name, dimensions: space.dimensions, pages });
      state = { pageVersion: space.pageVersion, change: space.pagedChange, tail: 0 };
    }
    if (state.change >= space.lastChange) {
      known.set(name, state);
      return true;
    }
    let { tail } = state;
    for await (const part of source.readTail(space, state.change)) {
      tail += part.seqs.length;
      if (tail > longestTail) {
        known.delete(name);
        await threadNow().ask({ kind: 'forget', space: name });
        return false;
      }
      const { kind } = await threadNow().ask({ kind: 'extend', space: name, ...part });
      if (kind === 'not_open') return true; // `begin` tells, and the space is opened again
    }
    known.set(name, { pageVersion: state.pageVersion, change: space.lastChange, tail });
    return true;
  }

  /** Follows a space once at a time. */
  function follow(name: string, space: VectorSpace): Promise<boolean> {
    const before = following.get(name);
    if (before === undefined && isCurrent(known.get(name), space)) return Promise.resolve(true);
    const next = (before ?? Promise.resolve(true)).then(
      () => bringUp(name, space),
      () => bringUp(name, space),
    );
    following.set(name, next);
    const forget = () => {
      if (following.get(name) === next) following.delete(name);
    };
    next.then(forget, forget);
    return next;
  }

  /** @returns undefined when the question has to begin again */
  async function ask(name: string, query: Float32Array, count: number): Promise<NearVectors | undefined> {
    const begun = await threadNow().ask({ kind: 'begin', space: name, query, count });
    if (begun.kind !== 'missing') return nearOf(begun);
    const { question } = begun;
    let isComplete = false;
    try {
      isComplete = await passPages({ source, thread: threadNow() }, question, begun.pages);
    } finally {
      if (!isComplete) await threadNow().ask({ kind: 'cancel', question });
    }
    return isComplete ? nearOf(await threadNow().ask({ kind: 'finish', question })) : undefined;
  }

  return {
    async nearest(space, query, count) {
      const name = `${space.collectionId} ${space.firstChange}`;
      for (let attempt = 1; attempt <= attempts; attempt++) {
        if (!(await follow(name, space))) return undefined;
        const near = await ask(name, query, count);
        if (near !== undefined) return near;
        known.delete(name);
      }
      throw new Error(
        `the pages of collection ${space.collectionId} were replaced ${attempts} times during a question`,
      );
    },
    async close() {
      await Promise.allSettled(following.values());
      await thread?.close();
    },
  };
}

/**
 * Reads the pages that a question needs, while the thread scans the one before.
 * @returns false when a page has been replaced
 */
async function passPages(
  { source, thread }: { source: PageSource; thread: PageThread },
  question: number,
  pages: readonly MissingPage[],
): Promise<boolean> {
  const read = async (page: MissingPage | undefined) => {
    if (page === undefined) return undefined;
    if (page.isKept) return source.readPage(page.id);
    const scan = await source.readScan(page.id);
    return scan && { scan, refine: null };
  };
  let next = read(pages[0]);
  for (const [place, page] of pages.entries()) {
    const parts = await next;
    if (parts === undefined) return false;
    next = read(pages[place + 1]);
    next.catch(() => undefined); // awaited in the next round, unless this one fails
    await thread.ask({ kind: 'scan', question, page, ...parts });
  }
  return true;
}

function isCurrent(state: KnownSpace | undefined, space: VectorSpace): boolean {
  return state !== undefined && state.pageVersion >= space.pageVersion && state.change >= space.lastChange;
}

function nearOf(answer: PageAnswer): NearVectors | undefined {
  return answer.kind === 'near' ? answer.near : undefined;
}
