import { normalise, similarity } from '../../embedding/vectors.ts';

/** Returns pseudo-random numbers from 0 to 1, the same in every run (xorshift). */
export function createNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** Returns numbers of a normal distribution (Box and Muller). */
export function createNormals(seed: number): () => number {
  const next = createNumbers(seed);
  return () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
}

export type VectorKind = 'topics' | 'similar' | 'clusters' | 'tight' | 'uniform' | 'positive';

/**
 * Creates vectors of a known shape: `topics` like those of a model, in 48 dimensions of all; `similar` with a mean cosine of
 * .75; `clusters` of 100; `tight` clusters of 1,000; `uniform`; and `positive` ones without negative numbers.
 */
export function createVectors(
  kind: VectorKind,
  { count, dimensions }: { count: number; dimensions: number },
  seed = 7,
) {
  const normal = createNormals(seed);
  const number = createNumbers(seed + 1);
  const random = () => Float32Array.from({ length: dimensions }, normal);
  const centreCount = { topics: 40, similar: 40, clusters: count / 100, tight: count / 1000, uniform: 1, positive: 1 }[
    kind
  ];
  const centres = Array.from({ length: Math.ceil(centreCount) }, () => normalise(random()));
  const basis = Array.from({ length: Math.min(48, dimensions) }, () => normalise(random()));
  const mean = normalise(random());
  const centre = () => centres[Math.floor(number() * centres.length)] as Float32Array;
  const spread = { topics: 0.8, similar: 0.8, clusters: 0.5, tight: 0.2, uniform: 0, positive: 0 }[kind];
  function one(): Float32Array {
    if (kind === 'uniform') return normalise(random());
    if (kind === 'positive') return normalise(random().map(Math.abs));
    const vector = Float32Array.from(centre());
    if (kind === 'clusters' || kind === 'tight') {
      for (let i = 0; i < dimensions; i++)
        vector[i] = (vector[i] as number) + (normal() * spread) / Math.sqrt(dimensions);
      return normalise(vector);
    }
    for (const direction of basis) {
      const weight = (normal() * spread) / Math.sqrt(basis.length);
      for (let i = 0; i < dimensions; i++) vector[i] = (vector[i] as number) + weight * (direction[i] as number);
    }
    normalise(vector);
    if (kind === 'similar') {
      for (let i = 0; i < dimensions; i++)
        vector[i] = (vector[i] as number) * 0.5 + (mean[i] as number) * Math.sqrt(0.75);
      normalise(vector);
    }
    return vector;
  }
  return { vectors: Array.from({ length: count }, one), queries: (many: number) => Array.from({ length: many }, one) };
}

/** Returns the places of the vectors with the greatest cosines, computed one by one. */
export function findNearest(vectors: ReadonlyArray<Float32Array | null>, query: Float32Array, count: number): number[] {
  const near = vectors.flatMap((vector, place) =>
    vector === null ? [] : [{ place, value: similarity(vector, query) }],
  );
  return near
    .sort((a, b) => b.value - a.value || a.place - b.place)
    .slice(0, count)
    .map(({ place }) => place);
}
