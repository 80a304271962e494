/**
 * The codes of `vectorsPerBlock` vectors: a sign and four bits for each dimension.
 *
 * With the rotated vector v, the centre c and the residual r = v − c: ⟨v, q⟩ = ⟨v, c⟩ + ⟨c, q − c⟩ + ⟨r, q − c⟩, where
 * base = ⟨v, c⟩ is exact. The last product is |r| · |q − c| · cos θ, and π times the share of dimensions whose signs differ
 * estimates θ.
 *
 * With the four bits as a code x that approximates the direction of r, scale · x is the multiple of x whose product with r is
 * |r|². Then ⟨scale · x, q − c⟩ estimates the product without bias. Its error is the product of q − c with the rest of r. The
 * rotation makes it behave like a normal distribution of the deviation spread · |q − c|, and
 * spread = |r − scale · x| / √dimensions.
 */
export interface CodeBlock {
  readonly seqs: Float64Array;
  readonly bases: Float32Array;
  /** |r| */
  readonly norms: Float32Array;
  /** A bit for each dimension: 1 stands for a positive number. The first words of all vectors, then their second words. */
  readonly signs: Int32Array;
  /** Four bits for each dimension: n stands for n − 7.5. */
  readonly nibbles: Uint8Array;
  readonly scales: Float32Array;
  readonly spreads: Float32Array;
}

/** A vector whose cosine is still computed exactly. */
export interface SeqVector {
  readonly seq: number;
  readonly vector: Float32Array;
}

/** Up to this many vectors are compared exactly, which takes longer than the comparison of their codes. */
export const vectorsPerBlock = 512;
export const nibbleCentre = 7.5;
/** The best step between 16 equal steps for a normal distribution, in standard deviations. */
const bestStep = 0.3352;

/** The signs of a vector fill whole groups of this many words, which are compared at once. */
export const wordsAtOnce = 3;

export function wordsOfSigns(width: number): number {
  return Math.ceil(width / 32 / wordsAtOnce) * wordsAtOnce;
}

/** Returns the bytes of the codes of one vector. */
export function codeBytes(width: number): number {
  return wordsOfSigns(width) * 4 + width / 2 + 24;
}

export function encodeBlock(vectors: readonly SeqVector[], rotate: Rotate, centre: Float32Array): CodeBlock {
  const width = centre.length;
  const numbers = () => new Float32Array(vectors.length);
  const block: CodeBlock = {
    seqs: Float64Array.from(vectors, ({ seq }) => seq),
    bases: numbers(),
    norms: numbers(),
    signs: new Int32Array(vectors.length * wordsOfSigns(width)),
    nibbles: new Uint8Array((vectors.length * width) / 2),
    scales: numbers(),
    spreads: numbers(),
  };
  for (const [n, { vector }] of vectors.entries()) encode(block, n, rotate(vector), centre);
  return block;
}

function encode(block: CodeBlock, n: number, vector: Float32Array, centre: Float32Array): void {
  const width = centre.length;
  const residual = vector.map((value, i) => value - (centre[i] as number));
  let [base, square] = [0, 0];
  for (let i = 0; i < width; i++) {
    base += (vector[i] as number) * (centre[i] as number);
    square += (residual[i] as number) ** 2;
  }
  writeSigns(residual, block.signs.subarray(n), block.seqs.length);
  const perStep = square === 0 ? 0 : 1 / (bestStep * Math.sqrt(square / width));
  let [product, codeSquare] = [0, 0];
  for (let i = 0; i < width; i++) {
    const rest = residual[i] as number;
    const nibble = Math.max(0, Math.min(15, Math.floor(rest * perStep) + 8));
    product += (nibble - nibbleCentre) * rest;
    codeSquare += (nibble - nibbleCentre) ** 2;
    const at = (n * width + i) >> 1;
    block.nibbles[at] = (block.nibbles[at] as number) | (nibble << ((i & 1) * 4));
  }
  block.bases[n] = base;
  block.norms[n] = Math.sqrt(square);
  if (product <= 0) return;
  const scale = square / product;
  block.scales[n] = scale;
  block.spreads[n] = Math.sqrt(Math.max(0, scale * scale * codeSquare - square) / width);
}

/** Writes a bit for each number: 1 for a positive one. The distance is that from one word to the next. */
export function writeSigns(numbers: Float32Array, signs: Int32Array, distance = 1): void {
  for (let i = 0; i < numbers.length; i++) {
    const word = (i >> 5) * distance;
    if ((numbers[i] as number) > 0) signs[word] = (signs[word] as number) | (1 << (i & 31));
  }
}

/** Returns the mean of the rotated vectors. */
export function findCentre(vectors: readonly SeqVector[], rotate: Rotate, width: number): Float32Array {
  const mean = new Float64Array(width);
  for (const { vector } of vectors) {
    const rotated = rotate(vector);
    for (let i = 0; i < width; i++) mean[i] = (mean[i] as number) + (rotated[i] as number) / vectors.length;
  }
  return Float32Array.from(mean);
}

/** A code has whole groups of 32 dimensions. Missing ones are zeros, before and after the rotation of the others. */
export function paddedDimensions(dimensions: number): number {
  return Math.ceil(dimensions / 32) * 32;
}

/** Rotates a vector. The result is padded and is overwritten by the next call. */
type Rotate = (vector: Float32Array) => Float32Array;

const rounds = 4;
const seed = 0x51_4d_56_31;

/**
 * Creates a random orthogonal rotation, which is the same for equal dimensions. A round changes random
 * signs and applies a Hadamard transform to as many dimensions as the greatest power of two has, to the first and to the
 * last of them in turn. Afterwards no dimension holds more than its share of a vector.
 */
export function createRotation(dimensions: number): Rotate {
  const width = paddedDimensions(dimensions);
  const size = 2 ** Math.floor(Math.log2(width));
  const signs = createSigns(rounds * width);
  const scale = 1 / Math.sqrt(size);
  // Numbers of 64 bits need no conversion from one step to the next.
  const values = new Float64Array(width);
  const parts = [values.subarray(0, size), values.subarray(width - size)];
  const rotated = new Float32Array(width);
  return (vector) => {
    values.fill(0);
    values.set(vector);
    for (let round = 0; round < rounds; round++) {
      for (let i = 0; i < width; i++) values[i] = (values[i] as number) * (signs[round * width + i] as number);
      transform(parts[round % 2] as Float64Array, scale);
    }
    rotated.set(values);
    return rotated;
  };
}

/** Applies the orthogonal Hadamard transform in place. The length is a power of two. */
function transform(values: Float64Array, scale: number): void {
  const size = values.length;
  for (let half = 1; half < size; half *= 2) {
    for (let start = 0; start < size; start += 2 * half) {
      for (let i = start; i < start + half; i++) {
        const a = values[i] as number;
        const b = values[i + half] as number;
        values[i] = a + b;
        values[i + half] = a - b;
      }
    }
  }
  for (let i = 0; i < size; i++) values[i] = (values[i] as number) * scale;
}

/** Returns pseudo-random signs (xorshift), the same in every run. */
function createSigns(count: number): Float32Array {
  const signs = new Float32Array(count);
  let state = seed;
  for (let i = 0; i < count; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    signs[i] = (state & 0x10000) === 0 ? 1 : -1;
  }
  return signs;
}
