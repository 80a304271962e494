/** A code has whole groups of 32 dimensions. Missing ones are zeros, before and after the rotation of the others. */
export function paddedDimensions(dimensions: number): number {
  return Math.ceil(dimensions / 32) * 32;
}

/** Rotates a vector. The result is padded and is overwritten by the next call. */
export type Rotate = (vector: Float32Array) => Float32Array;

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
