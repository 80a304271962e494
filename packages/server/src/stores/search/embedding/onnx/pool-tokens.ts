import { normalise } from '../vectors.ts';
import type { Pooling } from './onnx-protocol.ts';
import type { TokenBatch } from './token-batches.ts';

/** The output of a model: text · token · dimension, or text · dimension when the model has already pooled. */
export interface ModelOutput {
  readonly data: Float32Array;
  readonly dims: readonly number[];
}

/** Returns one vector of unit length for each text; null where the vector is zero or not a number. */
export function poolTokens(output: ModelOutput, batch: TokenBatch, pooling: Pooling): Array<Float32Array | null> {
  const { data, dims } = output;
  const dimensions = dims.at(-1) ?? 0;
  return batch.ids.map((ids, row) => {
    if (dims.length === 2) return finish(data.slice(row * dimensions, (row + 1) * dimensions));
    const start = row * batch.length * dimensions;
    const tokenAt = (place: number) => data.subarray(start + place * dimensions, start + (place + 1) * dimensions);
    if (pooling === 'cls') return finish(tokenAt(0).slice());
    if (pooling === 'last') return finish(tokenAt(ids.length - 1).slice());
    const sum = new Float32Array(dimensions);
    for (let place = 0; place < ids.length; place++) {
      const token = tokenAt(place);
      for (let i = 0; i < dimensions; i++) sum[i] = (sum[i] ?? 0) + (token[i] ?? 0);
    }
    return finish(sum);
  });
}

function finish(vector: Float32Array): Float32Array | null {
  return vector.every(Number.isFinite) && vector.some((value) => value !== 0) ? normalise(vector) : null;
}
