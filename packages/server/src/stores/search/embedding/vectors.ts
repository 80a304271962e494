/** Scales to unit length in place. A vector of zeros is unchanged. */
export function normalise(vector: Float32Array): Float32Array {
  let sum = 0;
  for (const value of vector) sum += value * value;
  if (sum === 0) return vector;
  const length = Math.sqrt(sum);
  for (let i = 0; i < vector.length; i++) vector[i] = (vector[i] ?? 0) / length;
  return vector;
}

/** Returns the cosine, from −1 to 1, of two vectors of unit length and equal dimensions. */
export function similarity(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}

/** Returns the stored form: 32-bit floats, little-endian, as all supported machines have them. */
export function toBytes(vector: Float32Array): Buffer {
  return Buffer.from(vector.slice().buffer);
}

export function fromBytes(bytes: Uint8Array): Float32Array {
  return new Float32Array(Uint8Array.from(bytes).buffer);
}

/** Returns the vector, without a copy if its position in memory is a multiple of four bytes. */
export function viewBytes(bytes: Uint8Array): Float32Array {
  if (bytes.byteOffset % 4 !== 0) return fromBytes(bytes);
  return new Float32Array(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength / 4); // as databases return them
}
