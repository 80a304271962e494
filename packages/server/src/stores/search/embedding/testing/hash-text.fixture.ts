import { tokenize } from '../../analysis/tokenizer.ts';
import { normalise } from '../vectors.ts';

const shortestPart = 3;
const longestPart = 5;

/**
 * Computes a deterministic vector of unit length without a model, for tests and benchmarks. It hashes words and their
 * substrings of 3 to 5 characters, so texts with similar spelling are near.
 */
export function hashText(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  const counts = new Map<string, number>();
  for (const word of tokenize(text)) counts.set(word, (counts.get(word) ?? 0) + 1);
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

/** FNV-1a over code units. The bits are mixed at the end, because the lowest bit decides a sign. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}
