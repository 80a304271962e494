import { blockSize, layOut, nibbleCentre, type PageBytes, type PageLayout, writeHeader } from './page-format.ts';
import type { Rotate } from './rotation.ts';

export interface VectorsToEncode {
  readonly seqs: Float64Array;
  /** The vectors of all seqs, concatenated. */
  readonly vectors: Float32Array;
  readonly dimensions: number;
  readonly rotate: Rotate;
  /** The centre of an earlier page, which is used again when another one would hardly be better. */
  readonly earlierCentre?: Float32Array | undefined;
  /** The centre of the page, if it is already known. */
  readonly centre?: Float32Array | undefined;
}

/** How much larger the squares of the residuals may be with the centre of an earlier page. */
const tolerance = 1.05;
/** The best step between 16 equal steps for a normal distribution, in standard deviations. */
const bestStep = 0.3352;

/** Encodes at least one vector. */
export function encodePage({ seqs, vectors, dimensions, rotate, ...centres }: VectorsToEncode): PageBytes {
  const layout = layOut(dimensions, seqs.length);
  const { width, count } = layout;
  const rotated = new Float32Array(count * width);
  for (let n = 0; n < count; n++) {
    rotated.set(rotate(vectors.subarray(n * dimensions, (n + 1) * dimensions)), n * width);
  }
  const centre = centres.centre ?? chooseCentre(rotated, width, centres.earlierCentre);
  const scan = new Uint8Array(layout.scanBytes);
  const refine = new Uint8Array(layout.refineBytes);
  writeHeader(scan, layout);
  new Float32Array(scan.buffer, layout.centre, width).set(centre);
  new Float64Array(scan.buffer, layout.seqs, count).set(seqs);
  const encode = createEncoder(layout, { scan, refine }, centre);
  for (let n = 0; n < count; n++) encode(n, rotated.subarray(n * width, (n + 1) * width));
  return { scan, refine };
}

/** Returns the mean of the vectors, or the earlier centre if the vectors are nearly as close to it. */
function chooseCentre(rotated: Float32Array, width: number, earlier: Float32Array | undefined): Float32Array {
  const count = rotated.length / width;
  const mean = new Float64Array(width);
  let squares = 0;
  for (let at = 0; at < rotated.length; at++) {
    const value = rotated[at] as number;
    mean[at % width] = (mean[at % width] as number) + value / count;
    squares += value * value;
  }
  const own = Float32Array.from(mean);
  if (earlier === undefined) return own;
  // Σ |v − c|² = Σ |v|² − n |m|² + n |m − c|², with the mean m.
  const best = squares - count * squareOf(own);
  const distance = squareOf(own.map((value, i) => value - (earlier[i] as number)));
  return best + count * distance <= tolerance * best ? earlier : own;
}

function squareOf(vector: Float32Array): number {
  return vector.reduce((sum, value) => sum + value * value, 0);
}

/** Returns a function that writes the codes of one vector. */
function createEncoder(layout: PageLayout, { scan, refine }: PageBytes, centre: Float32Array) {
  const { width, places } = layout;
  const floats = (bytes: Uint8Array, at: number) => new Float32Array(bytes.buffer, at, places);
  const [bases, scales, spreads] = [layout.bases, layout.scales, layout.spreads].map((at) => floats(scan, at)) as [
    Float32Array,
    Float32Array,
    Float32Array,
  ];
  const refinedScales = floats(refine, layout.refinedScales);
  const refinedSpreads = floats(refine, layout.refinedSpreads);
  // Places without a vector are never near.
  bases.fill(Number.NEGATIVE_INFINITY, layout.count);
  const residual = new Float32Array(width);
  return (n: number, vector: Float32Array): void => {
    let base = 0;
    let square = 0;
    let absolutes = 0;
    for (let i = 0; i < width; i++) {
      const value = vector[i] as number;
      const rest = value - (centre[i] as number);
      residual[i] = rest;
      base += value * (centre[i] as number);
      square += rest * rest;
      absolutes += Math.abs(rest);
    }
    bases[n] = base;
    const signed = fit({ square, product: absolutes, codeSquare: width, width });
    scales[n] = signed.scale;
    spreads[n] = signed.spread;
    writeSigns(scan, layout.signs + signsOf(n, width), residual, n);
    const nibbles = refine.subarray(layout.nibbles + (n * width) / 2, layout.nibbles + ((n + 1) * width) / 2);
    const refined = fit({ square, ...writeNibbles(nibbles, residual, bestStep * Math.sqrt(square / width)), width });
    refinedScales[n] = refined.scale;
    refinedSpreads[n] = refined.spread;
  };
}

/** Returns where the bytes of a vector begin among the signs: in its block, and there at its byte of the first group. */
function signsOf(n: number, width: number): number {
  const inBlock = n % blockSize;
  return ((n - inBlock) * width) / 8 + (inBlock % 16);
}

/** Returns the scale and the spread of a code with the given product with the residual. A residual of zeros has zeros. */
function fit(of: { square: number; product: number; codeSquare: number; width: number }) {
  if (of.product <= 0) return { scale: 0, spread: 0 };
  const scale = of.square / of.product;
  const rest = Math.max(0, scale * scale * of.codeSquare - of.square);
  return { scale, spread: Math.sqrt(rest / of.width) };
}

function writeSigns(scan: Uint8Array, from: number, residual: Float32Array, n: number): void {
  const shift = n % blockSize < 16 ? 0 : 4;
  for (let i = 0, at = from; i < residual.length; i += 4, at += 16) {
    let nibble = 0;
    for (let bit = 0; bit < 4; bit++) if ((residual[i + bit] as number) > 0) nibble |= 1 << bit;
    scan[at] = (scan[at] as number) | (nibble << shift);
  }
}

/** Writes four bits for each dimension. Returns the product of the code with the residual, and its own square. */
function writeNibbles(nibbles: Uint8Array, residual: Float32Array, step: number) {
  let product = 0;
  let codeSquare = 0;
  const perStep = step === 0 ? 0 : 1 / step;
  for (let i = 0; i < residual.length; i++) {
    const rest = residual[i] as number;
    const nibble = Math.max(0, Math.min(15, Math.floor(rest * perStep) + 8));
    const value = nibble - nibbleCentre;
    product += value * rest;
    codeSquare += value * value;
    const at = (i >> 5) * 16 + (i & 15);
    nibbles[at] = (nibbles[at] as number) | ((i & 16) === 0 ? nibble : nibble << 4);
  }
  return { product, codeSquare };
}
