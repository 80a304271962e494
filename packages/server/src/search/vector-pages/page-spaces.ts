import type { NearVectors } from '../embedding/vector-index.ts';
import type { PageBytes } from './page-format.ts';
import { createPageMemory, type MemoryPage, type PageMemory, sizeOf } from './page-memory.ts';
import type { ListedPage, MissingPage, TailVectors } from './page-protocol.ts';
import { createPageSearch } from './page-search.ts';
import { createRotation, type Rotate } from './rotation.ts';
import { createSpaceTail, type SpaceTail } from './space-tail.ts';

/** The spaces of a thread: their pages in memory and the questions over them. */
export interface PageSpaces {
  /** Sets the stored pages of a space, which may be new, and forgets its tail. */
  open(name: string, dimensions: number, pages: readonly ListedPage[]): void;
  /** @returns false when the space is not open */
  extend(name: string, added: TailVectors): boolean;
  /** @returns undefined when the space is not open */
  begin(name: string, query: Float32Array): PageQuestion | undefined;
  forget(name: string): void;
}

/** A question over the pages of a space. Pages that are replaced meanwhile stay in it. */
export interface PageQuestion extends Disposable {
  /** Stored pages that are not in memory. Each is passed to `scan` before `finish`. */
  readonly missing: readonly MissingPage[];
  /** @param bytes `refine` is null when the page is not kept */
  scan(page: ListedPage, bytes: { readonly scan: Uint8Array; readonly refine: Uint8Array | null }): void;
  finish(count: number): NearVectors;
}

interface Space {
  readonly name: string;
  readonly dimensions: number;
  readonly rotate: Rotate;
  /** The stored pages. */
  readonly pages: Map<number, StoredPage>;
  readonly tailPages: Map<number, MemoryPage>;
  readonly tail: SpaceTail;
  isOpen: boolean;
  /** The numbers of the last question and of the one before. */
  lastAsked: number;
  askedBefore: number;
}

interface StoredPage {
  readonly count: number;
  /** Null when the page is not in memory. */
  inMemory: MemoryPage | null;
}

/** @param limit the maximum bytes of pages that stay in memory; tails may exceed it */
export function createPageSpaces(limit: number): PageSpaces {
  const memory = createPageMemory();
  const spaces = new Map<string, Space>();
  let questions = 0;

  function evict(space: Space): void {
    for (const { inMemory } of space.pages.values()) if (inMemory !== null) memory.release(inMemory);
    space.tail.clear();
    space.isOpen = false;
    spaces.delete(space.name);
  }

  /**
   * Makes room for a page of the space. A space gives way to one that was asked twice since it was asked last, so that two
   * spaces that are asked in turn do not push each other out.
   */
  function reserve(space: Space, needed: number): boolean {
    for (const other of [...spaces.values()].sort((a, b) => a.lastAsked - b.lastAsked)) {
      if (memory.bytes + needed <= limit) break;
      if (other !== space && other.lastAsked < space.askedBefore) evict(other);
    }
    return memory.bytes + needed <= limit;
  }

  function listMissing(space: Space): MissingPage[] {
    let planned = 0;
    const missing: MissingPage[] = [];
    for (const [id, { count, inMemory }] of space.pages) {
      if (inMemory !== null) continue;
      const size = sizeOf(space.dimensions, count);
      const isKept = reserve(space, planned + size);
      if (isKept) planned += size;
      missing.push({ id, count, isKept });
    }
    return missing;
  }

  return {
    open(name, dimensions, pages) {
      const space = spaces.get(name) ?? createSpace(memory, { name, dimensions, asked: questions });
      spaces.set(name, space);
      space.tail.clear();
      const current = new Set(pages.map(({ id }) => id));
      for (const [id, { inMemory }] of space.pages) {
        if (current.has(id)) continue;
        if (inMemory !== null) memory.release(inMemory);
        space.pages.delete(id);
      }
      for (const { id, count } of pages) if (!space.pages.has(id)) space.pages.set(id, { count, inMemory: null });
    },
    extend(name, added) {
      const space = spaces.get(name);
      if (space === undefined) return false;
      reserve(space, sizeOf(space.dimensions, added.seqs.length));
      space.tail.add(added);
      return true;
    },
    begin(name, query) {
      const space = spaces.get(name);
      if (space === undefined) return undefined;
      questions += 1;
      space.askedBefore = space.lastAsked;
      space.lastAsked = questions;
      return openQuestion(memory, space, { query, missing: listMissing(space) });
    },
    forget(name) {
      const space = spaces.get(name);
      if (space !== undefined) evict(space);
    },
  };
}

function createSpace(memory: PageMemory, of: { name: string; dimensions: number; asked: number }): Space {
  const { name, dimensions, asked } = of;
  const rotate = createRotation(dimensions);
  const pages = new Map<number, StoredPage>();
  const tailPages = new Map<number, MemoryPage>();
  let lastNumber = 0;
  const tail = createSpaceTail({
    ...{ dimensions, rotate },
    centre() {
      const stored = [...pages.values()].find(({ inMemory }) => inMemory !== null)?.inMemory;
      return (stored ?? tailPages.values().next().value)?.centre;
    },
    load(page: PageBytes) {
      lastNumber += 1;
      tailPages.set(lastNumber, memory.load(page));
      return lastNumber;
    },
    unload(number) {
      memory.release(tailPages.get(number) as MemoryPage); // as `load` has numbered it
      tailPages.delete(number);
    },
  });
  return {
    ...{ name, dimensions, rotate, pages, tailPages, tail },
    ...{ isOpen: true, lastAsked: asked, askedBefore: asked },
  };
}

function openQuestion(
  memory: PageMemory,
  space: Space,
  { query, missing }: { query: Float32Array; missing: readonly MissingPage[] },
): PageQuestion {
  // A question over missing pages lasts longer than one call, and `rotate` overwrites its result.
  const search = createPageSearch(memory, space.rotate(query).slice());
  const used: MemoryPage[] = [];
  const scan = (page: MemoryPage) => {
    page.users++;
    used.push(page);
    search.scan(page);
  };
  for (const { inMemory } of space.pages.values()) if (inMemory !== null) scan(inMemory);
  for (const page of space.tailPages.values()) scan(page);
  return {
    missing,
    scan({ id }, parts) {
      const stored = space.pages.get(id);
      if (stored?.inMemory) return scan(stored.inMemory);
      const page = memory.load(parts);
      if (page.refine !== null && space.isOpen && stored !== undefined) {
        stored.inMemory = page;
        return scan(page);
      }
      // Without the part `refine`, nothing of the page is read afterwards.
      search.scan({ ...page, refine: null });
      memory.release(page);
    },
    finish: (count) => search.finish(count),
    [Symbol.dispose]() {
      search[Symbol.dispose]();
      for (const page of used) memory.release(page);
    },
  };
}
