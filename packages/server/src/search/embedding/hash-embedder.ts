import { setImmediate as nextTurn } from 'node:timers/promises';
import { cutWords } from '../analysis/words.ts';
import type { Embedder } from './embedder.ts';
import { normalise } from './vectors.ts';

/** Characters of a text that count; the rest of a longer one says little more. */
const longestText = 8_000;
const shortestPart = 3;
const longestPart = 5;
/** Measured, see docs/decisions/0031-vectors-beside-words.md: at 0.2 every set of real questions loses. */
const hashWeight = 0.1;
/** Milliseconds of hashing before others get their turn. */
const turnMs = 5;

/**
 * Vectors without a model and without a network: words and the pieces of 3 to 5 characters in them, hashed. What is
 * spelt alike is near, so typing errors and endings are forgiven; what means the same in other words is not. It finds
 * little that words do not find: measured, fusing at full weight lowers the quality of answers, so it counts little.
 */
export function createHashEmbedder(dimensions: number): Embedder {
  return {
    model: `hash-1:${dimensions}`,
    weight: hashWeight,
    batchSize: 32,
    lanes: 1,
    async embed(texts, signal) {
      const vectors: Float32Array[] = [];
      let turn = performance.now();
      for (const text of texts) {
        vectors.push(hashText(text, dimensions));
        if (performance.now() - turn < turnMs) continue;
        await nextTurn(undefined, { signal });
        turn = performance.now();
      }
      return vectors;
    },
    embedQuestion: async (text) => hashText(text, dimensions),
    close: async () => {},
  };
}

/** Deterministic; the same on every machine. */
export function hashText(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  const counts = new Map<string, number>();
  for (const word of cutWords(text.slice(0, longestText))) counts.set(word, (counts.get(word) ?? 0) + 1);
  for (const [word, count] of counts) {
    const weight = 1 + Math.log(count);
    add(vector, word, weight);
    const parts = partsOf(`<${word}>`);
    for (const part of parts) add(vector, part, weight / parts.length);
  }
  return normalise(vector);
}

function partsOf(word: string): string[] {
  const parts: string[] = [];
  for (let size = shortestPart; size <= Math.min(longestPart, word.length - 1); size++) {
    for (let from = 0; from + size <= word.length; from++) parts.push(word.slice(from, from + size));
  }
  return parts;
}

function add(vector: Float32Array, feature: string, weight: number): void {
  const hash = fnv1a(feature);
  const place = (hash >>> 1) % vector.length;
  vector[place] = (vector[place] ?? 0) + ((hash & 1) === 0 ? weight : -weight);
}

/** FNV-1a over code units, its bits mixed at the end: the lowest one decides a sign. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}
