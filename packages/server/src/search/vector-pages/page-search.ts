import type { NearVectors } from '../embedding/vector-index.ts';
import { createBestValues } from './best-values.ts';
import type { Kernel } from './kernel.ts';
import type { KernelHeap } from './kernel-heap.ts';
import { nibbleCentre, type PageLayout, vectorsPerPage } from './page-format.ts';
import { type CentredQuery, writeQuery } from './query-tables.ts';

/** A page in the memory of the kernel. */
export interface LoadedPage {
  readonly layout: PageLayout;
  readonly seqs: Float64Array;
  readonly centre: Float32Array;
  /** Pages with equal centres have equal keys. */
  readonly centreKey: string;
  /** Address of the part `scan`. */
  readonly scan: number;
  /** Address of the part `refine`; null when it is not in memory. */
  readonly refine: number | null;
}

/** One question over the pages of a collection. */
export interface PageSearch {
  /** Reads the part `scan` of a page. */
  scan(page: LoadedPage): void;
  /** Returns the `count` nearest vectors, and all others that may be among them. Called once. */
  finish(count: number): NearVectors;
}

export interface SearchMemory {
  readonly heap: KernelHeap;
  readonly kernel: Kernel;
}

/** Standard deviations by which the product with a code may be wrong: with the signs alone, and with the nibbles. */
const deviations = { signs: 2.2, nibbles: 3 };

/** The vectors that have outputs beside each other. */
const groupSize = 16;

/** The estimates and bounds of a page, in groups of 16: their estimates, then their bounds. */
interface ScannedPage {
  readonly page: LoadedPage;
  readonly query: CentredQuery;
  readonly outputs: Float32Array;
  /** The greatest estimate and the greatest bound of each group. */
  readonly estimateMaxima: Float32Array;
  readonly boundMaxima: Float32Array;
}

/** @param query rotated */
export function createPageSearch(memory: SearchMemory, query: Float32Array): PageSearch & Disposable {
  const { heap, kernel } = memory;
  const width = query.length;
  const allocated: number[] = [];
  const allocate = (bytes: number): number => {
    const address = heap.allocate(bytes);
    if (address === undefined) throw new Error('the memory of vectors is too small for a question');
    allocated.push(address);
    return address;
  };
  const sums = allocate(vectorsPerPage * 2);
  const outputs = allocate(vectorsPerPage * 9);
  const queries = new Map<string, CentredQuery>();
  const scanned: ScannedPage[] = [];

  function centre(page: LoadedPage): CentredQuery {
    const known = queries.get(page.centreKey);
    if (known !== undefined) return known;
    const centred = writeQuery(heap, query, page.centre, { tables: allocate(width * 4), whole: allocate(width * 2) });
    queries.set(page.centreKey, centred);
    return centred;
  }

  return {
    scan(page) {
      const { layout, scan } = page;
      const { places } = layout;
      const groups = places / groupSize;
      const centred = centre(page);
      const maxima = outputs + places * 8;
      kernel.sum(scan + layout.signs, centred.tables, places / 32, width / 32, sums);
      kernel.estimate(
        ...[sums, groups, scan + layout.bases, scan + layout.scales, scan + layout.spreads],
        ...([outputs, maxima, maxima + groups * 4, centred.fromCentre, centred.step, centred.offset] as const),
        ...([deviations.signs * centred.length, deviations.signs * stepError(centred.step, width)] as const),
      );
      const results = new Float32Array(heap.memory.buffer, outputs, places * 2 + groups * 2).slice();
      scanned.push({
        ...{ page, query: centred, outputs: results },
        estimateMaxima: results.subarray(places * 2, places * 2 + groups),
        boundMaxima: results.subarray(places * 2 + groups),
      });
    },
    finish: (count) => select(memory, scanned, count),
    [Symbol.dispose]() {
      for (const address of allocated) heap.free(address);
    },
  };
}

/** The standard deviation of a sum of rounded values of tables. */
function stepError(step: number, width: number): number {
  return step * Math.sqrt(width / 4 / 12);
}

/** A vector with its estimated cosine and its upper bound. */
interface Estimated {
  readonly seq: number;
  readonly estimate: number;
  readonly bound: number;
}

/** Refines what may be among the nearest until nothing else may be. */
function select(memory: SearchMemory, scanned: readonly ScannedPage[], wanted: number): NearVectors {
  // More than there are find all.
  const total = scanned.reduce((sum, { page }) => sum + page.layout.count, 0);
  const count = Math.min(wanted, total + 1);
  const seeds = findSeeds(scanned, count);
  const reached = createBestValues(count);
  const refined: Estimated[] = [];
  let least = Number.NEGATIVE_INFINITY;
  const take = (part: ScannedPage, place: number, at: number) => {
    const found = refine(memory, part, place, at);
    least = reached.add(2 * found.estimate - found.bound);
    refined.push(found);
  };
  forEach(
    scanned,
    'estimateMaxima',
    () => seeds,
    (part, place, at) => {
      if ((part.outputs[at] as number) >= seeds) take(part, place, at);
    },
  );
  least = reached.least();
  forEach(
    scanned,
    'boundMaxima',
    () => least,
    (part, place, at) => {
      const isSeed = (part.outputs[at] as number) >= seeds;
      if (!isSeed && (part.outputs[at + groupSize] as number) >= least) take(part, place, at);
    },
  );
  const rest = refined.length === total ? Number.NEGATIVE_INFINITY : reached.least();
  const nearest = refined.filter(({ bound }) => bound >= rest).sort((a, b) => b.bound - a.bound || a.seq - b.seq);
  // A changed vector has two codes until its page is written again.
  const bounds = new Map<number, number>();
  for (const { seq, bound } of nearest) if (!bounds.has(seq)) bounds.set(seq, bound);
  return { seqs: Float64Array.from(bounds.keys()), bounds: Float64Array.from(bounds.values()), rest };
}

type Visit = (part: ScannedPage, place: number, at: number) => void;

/** Visits the vectors of the groups whose maximum reaches the least value. `at` is where the estimate is. */
function forEach(
  scanned: readonly ScannedPage[],
  maxima: 'estimateMaxima' | 'boundMaxima',
  least: () => number,
  visit: Visit,
): void {
  for (const part of scanned) {
    const { count } = part.page.layout;
    for (let group = 0; group * groupSize < count; group++) {
      if ((part[maxima][group] as number) < least()) continue;
      const last = Math.min(count, (group + 1) * groupSize);
      for (let place = group * groupSize; place < last; place++) visit(part, place, place + group * groupSize);
    }
  }
}

/** Returns an estimate that at least `count` vectors reach, and hardly more. −∞ when there are fewer vectors. */
function findSeeds(scanned: readonly ScannedPage[], count: number): number {
  const best = createBestValues(count);
  let limit = Number.NEGATIVE_INFINITY;
  forEach(
    scanned,
    'estimateMaxima',
    () => limit,
    (part, _, at) => {
      limit = best.add(part.outputs[at] as number);
    },
  );
  return best.least();
}

/** Compares the nibbles of a vector, if they are in memory. */
function refine({ heap, kernel }: SearchMemory, part: ScannedPage, place: number, at: number): Estimated {
  const { layout, scan, refine, seqs } = part.page;
  const { query } = part;
  const seq = seqs[place] as number;
  if (refine === null) {
    return { seq, estimate: part.outputs[at] as number, bound: part.outputs[at + groupSize] as number };
  }
  const product = kernel.dot(refine + layout.nibbles + (place * layout.width) / 2, query.whole, layout.width / 32);
  const floats = heap.floats();
  const base = floats[(scan + layout.bases) / 4 + place] as number;
  const scale = floats[(refine + layout.refinedScales) / 4 + place] as number;
  const spread = floats[(refine + layout.refinedSpreads) / 4 + place] as number;
  const estimate = base + query.fromCentre + scale * query.unit * (product - nibbleCentre * query.wholeSum);
  return { seq, estimate, bound: estimate + deviations.nibbles * spread * query.length };
}
