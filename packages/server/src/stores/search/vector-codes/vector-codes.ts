import type { NearVectors } from '../embedding/vector-index.ts';
import { similarity } from '../embedding/vectors.ts';
import {
  type CodeBlock,
  codeBytes,
  createRotation,
  encodeBlock,
  findCentre,
  nibbleCentre,
  paddedDimensions,
  type SeqVector,
  vectorsPerBlock,
  wordsAtOnce,
  wordsOfSigns,
  writeSigns,
} from './encode-block.ts';

/** The vectors of one space. */
export interface VectorCodes {
  /** A vector that was added before with the same seq stays, because its chunk may have been changed back. */
  add(vectors: readonly SeqVector[]): void;
  /** Returns the `count` nearest vectors, and all others that may be among them. */
  nearest(query: Float32Array, count: number): NearVectors;
}

/** Standard deviations by which an estimate may be wrong: with the signs alone, and with the nibbles. */
const deviations = { signs: 2.5, nibbles: 3 };
/** The largest whole number of a query. Its product with nibbles of 8,192 dimensions fits into 32 bits. */
const mostWhole = 8191;

/** Returns the bytes that the vectors of a space take: codes of whole blocks, and the other vectors themselves. */
export function bytesOfCodes(dimensions: number, count: number): number {
  const others = count % vectorsPerBlock;
  return (count - others) * codeBytes(paddedDimensions(dimensions)) + others * dimensions * 4;
}

/** Encodes vectors as soon as they fill a block. The others are compared exactly. */
export function createVectorCodes(dimensions: number): VectorCodes {
  const width = paddedDimensions(dimensions);
  const rotate = createRotation(dimensions);
  const blocks: CodeBlock[] = [];
  const others: SeqVector[] = [];
  let centre: Float32Array | undefined;
  return {
    add(vectors) {
      others.push(...vectors);
      while (others.length >= vectorsPerBlock) {
        const part = others.splice(0, vectorsPerBlock);
        centre ??= findCentre(part, rotate, width);
        blocks.push(encodeBlock(part, rotate, centre));
      }
    },
    nearest(query, count) {
      const exact = others.map(({ seq, vector }) => {
        const cosine = similarity(query, vector);
        return { seq, estimate: cosine, bound: cosine };
      });
      const centred = centre === undefined ? undefined : centreQuery(rotate(query), centre);
      const scanned = centred && scan(blocks, centred);
      return select(scanned, exact, count);
    },
  };
}

/** A question, relative to the centre. */
interface CentredQuery {
  readonly signs: Int32Array;
  readonly length: number;
  /** ⟨c, q − c⟩ */
  readonly fromCentre: number;
  /** For each number of signs that differ: what a vector of length 1 adds to the cosine, and at most adds. */
  readonly products: Float32Array;
  readonly bounds: Float32Array;
  /** The query is `unit` times these numbers. */
  readonly whole: Int16Array;
  readonly wholeSum: number;
  readonly unit: number;
}

function centreQuery(rotated: Float32Array, centre: Float32Array): CentredQuery {
  const width = rotated.length;
  const query = rotated.map((value, i) => value - (centre[i] as number));
  let [square, fromCentre, largest] = [0, 0, 0];
  for (const [i, value] of query.entries()) {
    square += value * value;
    fromCentre += value * (centre[i] as number);
    largest = Math.max(largest, Math.abs(value));
  }
  const length = Math.sqrt(square);
  const signs = new Int32Array(wordsOfSigns(width));
  writeSigns(query, signs);
  const products = new Float32Array(width + 1);
  const bounds = new Float32Array(width + 1);
  for (let differing = 0; differing <= width; differing++) {
    const angle = (Math.PI * differing) / width;
    const share = (differing + 1) / (width + 2);
    const deviation = Math.PI * Math.sqrt((share * (1 - share)) / width);
    products[differing] = length * Math.cos(angle);
    bounds[differing] = length * Math.cos(Math.max(0, angle - deviations.signs * deviation));
  }
  const unit = largest / mostWhole || 1;
  const whole = Int16Array.from(query, (value) => Math.round(value / unit));
  const wholeSum = whole.reduce((sum, value) => sum + value, 0);
  return { signs, length, fromCentre, products, bounds, whole, wholeSum, unit };
}

/** Blocks, and for each of their vectors the estimated cosine and its upper bound. */
interface ScannedBlocks {
  readonly blocks: readonly CodeBlock[];
  readonly centred: CentredQuery;
  readonly estimates: Float32Array;
  readonly bounds: Float32Array;
}

/** Estimates all cosines by the signs. */
function scan(blocks: readonly CodeBlock[], centred: CentredQuery): ScannedBlocks {
  // Arrays for each block would take longer to allocate than to fill.
  const estimates = new Float32Array(blocks.length * vectorsPerBlock);
  const bounds = new Float32Array(estimates.length);
  const differing = new Uint16Array(vectorsPerBlock);
  for (const [place, block] of blocks.entries()) {
    countDiffering(block.signs, centred.signs, differing);
    const { bases, norms } = block;
    for (let n = 0; n < vectorsPerBlock; n++) {
      const from = (bases[n] as number) + centred.fromCentre;
      const count = differing[n] as number;
      const at = place * vectorsPerBlock + n;
      estimates[at] = from + (norms[n] as number) * (centred.products[count] as number);
      bounds[at] = from + (norms[n] as number) * (centred.bounds[count] as number);
    }
  }
  return { blocks, centred, estimates, bounds };
}

/** Counts the signs of each vector of a block that differ from those of the query. */
function countDiffering(signs: Int32Array, query: Int32Array, differing: Uint16Array): void {
  differing.fill(0);
  for (let word = 0; word < query.length; word += wordsAtOnce) {
    const [one = 0, two = 0, three = 0] = query.subarray(word, word + wordsAtOnce);
    let at = word * vectorsPerBlock;
    for (let n = 0; n < vectorsPerBlock; n++) {
      // Adds the bits of three words. One word has the ones of the sums, the other one the twos.
      const a = (signs[at] as number) ^ one;
      const b = (signs[at + vectorsPerBlock] as number) ^ two;
      const c = (signs[at + 2 * vectorsPerBlock] as number) ^ three;
      const either = a ^ b;
      const fours = countInFours(either ^ c) + (countInFours((a & b) | (either & c)) << 1);
      const bytes = (fours & 0x0f0f0f0f) + ((fours >>> 4) & 0x0f0f0f0f);
      differing[n] = (differing[n] as number) + (Math.imul(bytes, 0x01010101) >>> 24);
      at += 1;
    }
  }
}

/** Returns the number of bits of each four bits, in these four bits. */
function countInFours(bits: number): number {
  const pairs = (bits - ((bits >>> 1) & 0x55555555)) | 0;
  return ((pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)) | 0;
}

/** A vector with its estimated cosine and its upper bound. */
interface Estimated {
  readonly seq: number;
  readonly estimate: number;
  readonly bound: number;
}

/** Refines what may be among the nearest until nothing else may be. */
function select(scanned: ScannedBlocks | undefined, exact: readonly Estimated[], wanted: number): NearVectors {
  const { estimates = new Float32Array(), bounds: mostOf = new Float32Array() } = scanned ?? {};
  // More than there are find all.
  const count = Math.min(wanted, estimates.length + exact.length + 1);
  const seeds = findSeeds(estimates, count);
  const reached = createBestValues(count);
  const refined: Estimated[] = [];
  const take = (found: Estimated) => {
    refined.push(found);
    return reached.add(2 * found.estimate - found.bound);
  };
  for (const each of exact) take(each);
  if (scanned !== undefined) {
    for (let n = 0; n < estimates.length; n++) if ((estimates[n] as number) >= seeds) take(refine(scanned, n));
    let least = reached.least();
    for (let n = 0; n < mostOf.length; n++) {
      if ((mostOf[n] as number) >= least && (estimates[n] as number) < seeds) least = take(refine(scanned, n));
    }
  }
  const rest = reached.least();
  const nearest = refined.filter(({ bound }) => bound >= rest).sort((a, b) => b.bound - a.bound || a.seq - b.seq);
  // A changed vector is there twice. The exact comparison reads the current one.
  const bounds = new Map<number, number>();
  for (const { seq, bound } of nearest) if (!bounds.has(seq)) bounds.set(seq, bound);
  return { seqs: Float64Array.from(bounds.keys()), bounds: Float64Array.from(bounds.values()), rest };
}

/** Returns an estimate that at least `count` encoded vectors reach, and hardly more. −∞ when there are fewer. */
function findSeeds(estimates: Float32Array, count: number): number {
  const best = createBestValues(count);
  let limit = Number.NEGATIVE_INFINITY;
  for (let n = 0; n < estimates.length; n++) {
    if ((estimates[n] as number) > limit) limit = best.add(estimates[n] as number);
  }
  return best.least();
}

/** Estimates the cosine of one vector by its nibbles. */
function refine({ blocks, centred }: ScannedBlocks, place: number): Estimated {
  const n = place % vectorsPerBlock;
  const { nibbles, bases, scales, spreads, seqs } = blocks[(place - n) / vectorsPerBlock] as CodeBlock;
  const { whole, wholeSum, unit, length, fromCentre } = centred;
  let product = 0;
  let at = (n * whole.length) / 2;
  for (let i = 0; i < whole.length; i += 2) {
    const pair = nibbles[at] as number;
    product = (product + Math.imul(pair & 15, whole[i] as number) + Math.imul(pair >> 4, whole[i + 1] as number)) | 0;
    at += 1;
  }
  const centredProduct = unit * (product - nibbleCentre * wholeSum);
  const estimate = (bases[n] as number) + fromCentre + (scales[n] as number) * centredProduct;
  return { seq: seqs[n] as number, estimate, bound: estimate + deviations.nibbles * (spreads[n] as number) * length };
}

/** Finds the least of the best values that arrive one after another. */
interface BestValues {
  /** @returns a value below which none of the best is; it rises, and is −∞ at first */
  add(value: number): number;
  /** Returns the least of the `count` best values; −∞ when there are fewer. */
  least(): number;
}

/** Holds as many other values as best ones, which are sorted out when the memory is full. */
function createBestValues(count: number): BestValues {
  const values = new Float64Array(2 * count);
  let used = 0;
  let limit = Number.NEGATIVE_INFINITY;
  function cut(): void {
    values.subarray(0, used).sort();
    values.copyWithin(0, used - count, used);
    used = count;
    limit = values[0] as number;
  }
  return {
    add(value) {
      if (value > limit) {
        values[used] = value;
        used++;
        if (used === values.length) cut();
      }
      return limit;
    },
    least() {
      if (used >= count) cut();
      return limit;
    },
  };
}
