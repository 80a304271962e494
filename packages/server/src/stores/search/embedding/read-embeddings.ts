import { EmbedderUnavailable } from './embedder.ts';
import type { EmbeddingAnswer } from './providers/providers.ts';
import { normalise } from './vectors.ts';

export interface Embeddings {
  /** In the order of the texts. */
  readonly vectors: Float32Array[];
  /** The tokens that the service counted; null when it does not state them. */
  readonly tokens: number | null;
}

/**
 * Reads the vectors of a response. The member `index` of an item gives the place of its text; the list may have another
 * order. Without it, the list has the order of the texts.
 * @throws EmbedderUnavailable for any invalid response, because a wrong vector is worse than none
 */
export function readEmbeddings(body: Uint8Array, count: number, shape: EmbeddingAnswer): Embeddings {
  const answer = parse(body);
  const vectors = new Map<number, Float32Array>();
  for (const [place, item] of listOf(answer, shape).entries()) {
    const { at, vector } = shape.vector === null ? { at: place, vector: item } : readItem(item, place, shape.vector);
    if (!Number.isInteger(at) || at < 0 || at >= count || vectors.has(at))
      throw malformed(`the index ${at} is out of range or occurs twice`);
    vectors.set(at, readVector(vector));
  }
  if (vectors.size !== count) throw malformed(`it has ${vectors.size} vectors for ${count} texts`);
  const ordered = [...vectors].sort(([a], [b]) => a - b).map(([, vector]) => vector);
  if (new Set(ordered.map((vector) => vector.length)).size > 1) throw malformed('its vectors have different lengths');
  return { vectors: ordered, tokens: readTokens(answer, shape) };
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8'));
  } catch {
    throw malformed('it is not JSON');
  }
}

function listOf(answer: unknown, { vectors }: EmbeddingAnswer): unknown[] {
  const list = memberAt(answer, vectors);
  if (Array.isArray(list)) return list;
  throw malformed(vectors.length === 0 ? 'it is not a list' : `it has no list \`${vectors.join('.')}\``);
}

/** The value at a path of members; undefined where there is none. */
function memberAt(value: unknown, path: readonly string[]): unknown {
  let found = value;
  for (const name of path) {
    if (typeof found !== 'object' || found === null) return undefined;
    found = Object.hasOwn(found, name) ? (found as Record<string, unknown>)[name] : undefined; // an object has members
  }
  return found;
}

function readItem(item: unknown, place: number, name: string): { at: number; vector: unknown } {
  if (typeof item !== 'object' || item === null) throw malformed('an item of the list is not an object');
  const index = memberAt(item, ['index']);
  return { at: typeof index === 'number' ? index : place, vector: memberAt(item, [name]) };
}

function readTokens(answer: unknown, { tokens }: EmbeddingAnswer): number | null {
  const found = tokens === null ? null : memberAt(answer, tokens);
  return typeof found === 'number' && Number.isSafeInteger(found) && found >= 0 ? found : null;
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
  // A vector without a direction is similar to nothing.
  if (value.every((each) => Math.fround(each) === 0)) throw malformed('an embedding contains only zeros');
  return normalise(Float32Array.from(value));
}

function malformed(what: string): EmbedderUnavailable {
  return new EmbedderUnavailable(`The embedding service sent an invalid response: ${what}.`);
}
