import type { TermPostings } from './segment-terms.ts';
import { compareTerms, prefixOf } from './term-order.ts';

/** The terms of several segments in one order. Equal terms come in the order of their segments. */
export interface TermQueue {
  /** The lowest term; undefined at the end. */
  term(): Uint8Array | undefined;
  /** The place of its segment. */
  place(): number;
  postings(): TermPostings;
  next(): void;
}

interface Source {
  readonly terms: Generator<TermPostings, void, undefined>;
  readonly place: number;
  current: TermPostings;
  prefix: number;
}

/** A binary heap whose root has the lowest term. */
export function createTermQueue(readers: ReadonlyArray<Generator<TermPostings, void, undefined>>): TermQueue {
  const heap: Source[] = [];
  for (const [place, terms] of readers.entries()) {
    const { value } = terms.next();
    if (value === undefined) continue;
    heap.push({ terms, place, current: value, prefix: prefixOf(value.term) });
  }
  for (let at = (heap.length >>> 1) - 1; at >= 0; at--) moveDown(heap, at);
  const root = () => heap[0] as Source;
  return {
    term: () => heap[0]?.current.term,
    place: () => root().place,
    postings: () => root().current,
    next() {
      const { value } = root().terms.next();
      if (value === undefined) {
        const last = heap.pop() as Source;
        if (heap.length === 0) return;
        heap[0] = last;
      } else {
        root().current = value;
        root().prefix = prefixOf(value.term);
      }
      moveDown(heap, 0);
    },
  };
}

function moveDown(heap: Source[], from: number): void {
  for (let at = from; ; ) {
    const left = 2 * at + 1;
    if (left >= heap.length) return;
    const right = left + 1;
    const lower = right < heap.length && isBefore(heap[right] as Source, heap[left] as Source) ? right : left;
    if (!isBefore(heap[lower] as Source, heap[at] as Source)) return;
    [heap[lower], heap[at]] = [heap[at] as Source, heap[lower] as Source];
    at = lower;
  }
}

function isBefore(a: Source, b: Source): boolean {
  if (a.prefix !== b.prefix) return a.prefix < b.prefix;
  const order = compareTerms(a.current.term, b.current.term);
  return order === 0 ? a.place < b.place : order < 0;
}
