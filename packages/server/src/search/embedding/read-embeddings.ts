import { EmbedderUnavailable } from './embedder.ts';
import { normalise } from './vectors.ts';

/**
 * Reads the vectors of a `/v1/embeddings` response, in the order of the texts. The member `index` gives that order; the
 * list may have another.
 * @throws EmbedderUnavailable for any invalid response, because a wrong vector is worse than none
 */
export function readEmbeddings(body: Uint8Array, count: number): Float32Array[] {
  const vectors = new Map<number, Float32Array>();
  for (const [place, item] of itemsOf(body).entries()) {
    if (typeof item !== 'object' || item === null) throw malformed('an item of `data` is not an object');
    const { index, embedding } = item as { index?: unknown; embedding?: unknown }; // both are checked
    const at = typeof index === 'number' ? index : place;
    if (!Number.isInteger(at) || at < 0 || at >= count || vectors.has(at))
      throw malformed(`the index ${String(index)} is out of range or occurs twice`);
    vectors.set(at, readVector(embedding));
  }
  if (vectors.size !== count) throw malformed(`it has ${vectors.size} vectors for ${count} texts`);
  const ordered = [...vectors].sort(([a], [b]) => a - b).map(([, vector]) => vector);
  if (new Set(ordered.map((vector) => vector.length)).size > 1) throw malformed('its vectors have different lengths');
  return ordered;
}

function itemsOf(body: Uint8Array): unknown[] {
  let answer: unknown;
  try {
    answer = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8'));
  } catch {
    throw malformed('it is not JSON');
  }
  const data = typeof answer === 'object' && answer !== null && 'data' in answer ? answer.data : undefined;
  if (!Array.isArray(data)) throw malformed('it has no list `data`');
  return data;
}

const mostDimensions = 8192;

function readVector(value: unknown): Float32Array {
  if (!Array.isArray(value) || value.length === 0 || value.length > mostDimensions) {
    throw malformed(`an embedding must be a list of 1 to ${mostDimensions} numbers`);
  }
  // A number that is too large for 32 bits becomes infinite.
  if (!value.every((each) => typeof each === 'number' && Number.isFinite(Math.fround(each)))) {
    throw malformed('an embedding must contain only finite numbers of 32 bits');
  }
  return normalise(Float32Array.from(value));
}

function malformed(what: string): EmbedderUnavailable {
  return new EmbedderUnavailable(`The embedding service sent an invalid response: ${what}.`);
}
