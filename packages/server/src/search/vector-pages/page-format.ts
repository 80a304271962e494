import { paddedDimensions } from './rotation.ts';

/**
 * A page holds codes of vectors, in two parts that never change. All numbers are little-endian, and arrays have an entry
 * for each vector of whole blocks of 32.
 *
 * `scan`: the numbers of the header; the centre (32-bit floats, rotated); the seqs (64-bit floats); three arrays of 32-bit
 * floats: bases, scales and spreads; the signs, a bit for each dimension, in the order of `kernel-module.ts`.
 *
 * `refine`: scales and spreads (32-bit floats); the nibbles, four bits for each dimension, vector after vector.
 *
 * With the rotated vector v, the centre c, the residual r = v − c and a code x that approximates its direction, scale · x is
 * the multiple of x whose product with r is |r|². Then ⟨v, q⟩ = ⟨v, c⟩ + ⟨c, q⟩ − ⟨c, c⟩ + ⟨r, q − c⟩, where base = ⟨v, c⟩ is
 * exact and ⟨scale · x, q − c⟩ estimates the last product without bias. Its error is the product of q − c with the rest of r.
 * The rotation makes it behave like a normal distribution of the deviation spread · |q − c|, and
 * spread = |r − scale · x| / √dimensions.
 */
export const formatVersion = 1;
export const blockSize = 32;
/** A nibble n stands for n − 7.5. */
export const nibbleCentre = 7.5;

/** Maximum number of vectors in a page. */
export const vectorsPerPage = 2048;

const headerNumbers = 8;
const headerBytes = headerNumbers * 4;

/** The stored parts of a page. */
export interface PageBytes {
  readonly scan: Uint8Array;
  readonly refine: Uint8Array;
}

/** Where the arrays of a page begin, in bytes from the beginning of their part. */
export interface PageLayout {
  readonly dimensions: number;
  readonly count: number;
  /** The dimensions of codes. */
  readonly width: number;
  /** `count`, rounded up to whole blocks. */
  readonly places: number;
  readonly centre: number;
  readonly seqs: number;
  readonly bases: number;
  readonly scales: number;
  readonly spreads: number;
  readonly signs: number;
  readonly scanBytes: number;
  readonly refinedScales: number;
  readonly refinedSpreads: number;
  readonly nibbles: number;
  readonly refineBytes: number;
}

export function layOut(dimensions: number, count: number): PageLayout {
  const width = paddedDimensions(dimensions);
  const places = Math.ceil(count / blockSize) * blockSize;
  const centre = headerBytes;
  const seqs = centre + width * 4;
  const bases = seqs + places * 8;
  const scales = bases + places * 4;
  const spreads = scales + places * 4;
  const signs = spreads + places * 4;
  return {
    ...{ dimensions, count, width, places, centre, seqs, bases, scales, spreads, signs },
    scanBytes: signs + (places * width) / 8,
    refinedScales: 0,
    refinedSpreads: places * 4,
    nibbles: places * 8,
    refineBytes: places * 8 + (count * width) / 2,
  };
}

export function writeHeader(scan: Uint8Array, { dimensions, count }: PageLayout): void {
  new Uint32Array(scan.buffer, scan.byteOffset, headerNumbers).set([formatVersion, dimensions, count]);
}

/** A page cannot be read as its format demands. */
export class DamagedVectorPage extends Error {
  override readonly name = 'DamagedVectorPage';
}

/**
 * @param refine null when only the other part was read
 * @throws DamagedVectorPage when version or sizes are wrong
 */
export function readLayout({ scan, refine }: { scan: Uint8Array; refine: Uint8Array | null }): PageLayout {
  if (scan.length < headerBytes) throw new DamagedVectorPage('the page has no header');
  const view = new DataView(scan.buffer, scan.byteOffset, headerBytes);
  const [version, dimensions, count] = [0, 4, 8].map((at) => view.getUint32(at, true)) as [number, number, number];
  if (version !== formatVersion) throw new DamagedVectorPage(`the page has the unknown version ${version}`);
  if (dimensions < 1 || count < 1 || count > vectorsPerPage) throw new DamagedVectorPage('the header is not valid');
  const layout = layOut(dimensions, count);
  if (scan.length !== layout.scanBytes || (refine !== null && refine.length !== layout.refineBytes)) {
    throw new DamagedVectorPage('the size of the page does not agree with its header');
  }
  return layout;
}

/** Returns the seqs of a page. @throws DamagedVectorPage */
export function readSeqs(scan: Uint8Array): Float64Array {
  const { seqs, count } = readLayout({ scan, refine: null });
  return new Float64Array(Uint8Array.from(scan.subarray(seqs, seqs + count * 8)).buffer);
}

/** Returns the centre of a page. @throws DamagedVectorPage */
export function readCentre(scan: Uint8Array): Float32Array {
  const { centre, width } = readLayout({ scan, refine: null });
  return new Float32Array(Uint8Array.from(scan.subarray(centre, centre + width * 4)).buffer);
}
