import type { NearVectors } from '../embedding/vector-index.ts';
import { similarity } from '../embedding/vectors.ts';
import { createBestValues } from './best-values.ts';
import {
  type CodeBlock,
  codeBytes,
  encodeBlock,
  findCentre,
  nibbleCentre,
  type SeqVector,
  vectorsPerBlock,
  writeSigns,
} from './encode-block.ts';
import { createRotation, paddedDimensions } from './rotation.ts';

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
      const scanned = centred === undefined ? [] : blocks.map((block) => scan(block, centred));
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
  const signs = new Int32Array(width / 32);
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

/** A block, and for each of its vectors the number of signs that differ and the estimated cosine. */
interface ScannedBlock {
  readonly block: CodeBlock;
  readonly centred: CentredQuery;
  readonly differing: Uint16Array;
  readonly estimates: Float32Array;
}

/** Estimates all cosines by the signs. */
function scan(block: CodeBlock, centred: CentredQuery): ScannedBlock {
  const { signs, bases, norms } = block;
  const { products, fromCentre, signs: query } = centred;
  const differing = new Uint16Array(bases.length);
  const estimates = new Float32Array(bases.length);
  let at = 0;
  for (let n = 0; n < estimates.length; n++) {
    let sum = 0;
    for (let word = 0; word < query.length; word++) {
      // Counts the bits of a word: in pairs, in fours, in bytes, and then in all of them.
      let bits = (signs[at] as number) ^ (query[word] as number);
      bits -= (bits >>> 1) & 0x55555555;
      bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
      sum += Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
      at += 1;
    }
    differing[n] = sum;
    estimates[n] = (bases[n] as number) + fromCentre + (norms[n] as number) * (products[sum] as number);
  }
  return { block, centred, differing, estimates };
}

/** A vector with its estimated cosine and its upper bound. */
interface Estimated {
  readonly seq: number;
  readonly estimate: number;
  readonly bound: number;
}

/** Refines what may be among the nearest until nothing else may be. */
function select(scanned: readonly ScannedBlock[], exact: readonly Estimated[], wanted: number): NearVectors {
  // More than there are find all.
  const total = scanned.reduce((sum, { estimates }) => sum + estimates.length, exact.length);
  const count = Math.min(wanted, total + 1);
  const seeds = findSeeds(scanned, count);
  const reached = createBestValues(count);
  const refined: Estimated[] = [];
  let least = Number.NEGATIVE_INFINITY;
  const take = (found: Estimated) => {
    least = reached.add(2 * found.estimate - found.bound);
    refined.push(found);
  };
  for (const each of exact) take(each);
  for (const part of scanned) {
    for (let n = 0; n < part.estimates.length; n++) {
      if ((part.estimates[n] as number) >= seeds) take(refine(part, n));
    }
  }
  least = reached.least();
  for (const part of scanned) {
    const { estimates, differing, centred } = part;
    const { bases, norms } = part.block;
    for (let n = 0; n < estimates.length; n++) {
      const most = (norms[n] as number) * (centred.bounds[differing[n] as number] as number);
      const bound = (bases[n] as number) + centred.fromCentre + most;
      if (bound >= least && (estimates[n] as number) < seeds) take(refine(part, n));
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
function findSeeds(scanned: readonly ScannedBlock[], count: number): number {
  const best = createBestValues(count);
  let limit = Number.NEGATIVE_INFINITY;
  for (const { estimates } of scanned) {
    for (const estimate of estimates) if (estimate > limit) limit = best.add(estimate);
  }
  return best.least();
}

/** Estimates the cosine of one vector by its nibbles. */
function refine({ block, centred }: ScannedBlock, n: number): Estimated {
  const { nibbles, bases, scales, spreads, seqs } = block;
  const { whole, wholeSum, unit, length, fromCentre } = centred;
  let product = 0;
  let at = (n * whole.length) / 2;
  for (let i = 0; i < whole.length; i += 2) {
    const pair = nibbles[at] as number;
    product += Math.imul(pair & 15, whole[i] as number) + Math.imul(pair >> 4, whole[i + 1] as number);
    at += 1;
  }
  const centredProduct = unit * (product - nibbleCentre * wholeSum);
  const estimate = (bases[n] as number) + fromCentre + (scales[n] as number) * centredProduct;
  return { seq: seqs[n] as number, estimate, bound: estimate + deviations.nibbles * (spreads[n] as number) * length };
}
