import type { CommonDeps } from '../../platform/common-deps.ts';
import { retryDelayMs } from '../../platform/concurrency/retry-delay.ts';
import type { DiskSpace } from '../../platform/disk/disk-space.ts';
import type { Job } from '../../platform/jobs/job.ts';
import { divideTokens, toTextKey } from '../search/embedding/embedded-texts.ts';
import { type Embedder, EmbedderUnavailable, type TextFailure } from '../search/embedding/embedder.ts';
import type { SharedEmbedder } from '../search/embedding/share-embedder.ts';
import type {
  BackfillJob,
  MissingVector,
  NewVector,
  StoredFailure,
  VectorRepository,
} from '../search/vector-repository.ts';

export type SliceEnd =
  /** No chunk after the slice lacks its vector. */
  | { readonly kind: 'done'; readonly failed: StoredFailure | undefined }
  /** All chunks up to the id `reached` have been sent. `failed` is a text of the slice that has no vector. */
  | { readonly kind: 'more'; readonly reached: string; readonly failed: StoredFailure | undefined }
  /** The embedder is unavailable. The message is for people. `retryAfterMs` is the delay it requests, or null. */
  | { readonly kind: 'unavailable'; readonly message: string; readonly retryAfterMs: number | null }
  /** The collection's vectors belong to another model. */
  | { readonly kind: 'other_model' };

export interface EmbedDeps extends Pick<CommonDeps, 'clock' | 'logger'> {
  readonly embedder: SharedEmbedder;
  readonly vectors: VectorRepository;
  /** Embedding pauses while the disk is nearly full. Default: the disk is never full. */
  readonly space?: DiskSpace | undefined;
}

/** The delays after which a text is sent again that the embedder failed to process, in milliseconds. */
const textRetries = { firstMs: 60_000, longestMs: 6 * 3_600_000 };

/** The chunks to embed: those without a vector in this set whose ids come after `reached`. */
export type Slice = Omit<BackfillJob, keyof Job>;

/**
 * Embeds the next chunks of a collection that have no vector: as many as fill the concurrent calls of the embedder once.
 * A text that another chunk of the project has is not sent; its vector is copied.
 * The answers that arrive are stored even if another call fails.
 */
export async function embedSlice(deps: EmbedDeps, slice: Slice, signal: AbortSignal): Promise<SliceEnd> {
  const { embedder, vectors, space, clock } = deps;
  const limit = embedder.batchSize * embedder.lanes;
  const chunks = await vectors.missing(slice, { after: slice.reached, limit, now: clock.now() });
  const last = chunks.at(-1);
  if (last === undefined) return { kind: 'done', failed: undefined };
  const other = await findOtherDimensions(embedder, slice, signal);
  if (other !== undefined) return other;
  const texts = new Set(chunks.map(({ text }) => text));
  const copies = await findCopies(deps, { slice, texts, signal });
  const sent = await embedTexts(embedder, texts.difference(copies), { slice, signal });
  const { tokens, failure } = sent;
  const embedded = new Map([...sent.embedded, ...copies]);
  const paid = chunks.filter(({ text }) => !copies.has(text));
  const created = shareTokens(toNewVectors(deps, { slice, chunks, embedded }), paid, tokens);
  if (created.length > 0 || tokens > 0) {
    await space?.untilFreeSpace(signal);
    const saving = await vectors.save(slice, embedder.model, created, tokens);
    if (saving.kind === 'other_model') return { kind: 'other_model' };
    if (saving.kind === 'other_dimensions') return otherDimensions(saving);
  }
  if (failure !== undefined) {
    return { kind: 'unavailable', message: failure.message, retryAfterMs: failure.retryAfterMs };
  }
  const failed = created.flatMap((each) => (each.embedded instanceof Float32Array ? [] : [each.embedded])).at(-1);
  return chunks.length < limit ? { kind: 'done', failed } : { kind: 'more', reached: last.id, failed };
}

/** Sent instead of a slice, so that a model with other dimensions is paid for a short text only. */
const shortText = 'test';

/** Asks for one short vector while the embedder is known to have other dimensions than the set of vectors. */
async function findOtherDimensions(
  embedder: EmbedDeps['embedder'],
  slice: Slice,
  signal: AbortSignal,
): Promise<SliceEnd | undefined> {
  const stored = slice.dimensions;
  if (stored === 0 || embedder.dimensions() === null || stored === embedder.dimensions()) return undefined;
  const { failure } = await embedTexts(embedder, new Set([shortText]), { slice, signal });
  if (failure !== undefined) {
    return { kind: 'unavailable', message: failure.message, retryAfterMs: failure.retryAfterMs };
  }
  const given = embedder.dimensions() ?? stored;
  return given === stored ? undefined : otherDimensions({ given, stored });
}

function otherDimensions({ given, stored }: { readonly given: number; readonly stored: number }): SliceEnd {
  const message = `The model gives vectors of ${given} dimensions, but those of the collection have ${stored}. Re-embed the collection, or configure the earlier model.`;
  return { kind: 'unavailable', message, retryAfterMs: null };
}

/**
 * Finds the vectors of texts that other chunks of the project have. A collection that is embedded with its own model again
 * gets new ones, because the model may have changed under its name.
 */
async function findCopies(
  { embedder, vectors }: EmbedDeps,
  { slice, texts, signal }: { slice: Slice; texts: ReadonlySet<string>; signal: AbortSignal },
): Promise<ReadonlyMap<string, Float32Array>> {
  const { projectId, collectionId } = slice;
  if (slice.role === 'next' && (await vectors.find(collectionId))?.model === embedder.model) return new Map();
  const byKey = new Map([...texts].map((text) => [toTextKey(projectId, embedder.model, text), text]));
  const found = await vectors.copies({ projectId, texts: byKey });
  if (found.size === 0) return found;
  // The first vectors of a set decide about its dimensions, and those of the model may have changed.
  if (slice.dimensions === 0 && embedder.dimensions() === null)
    await embedTexts(embedder, new Set([shortText]), { slice, signal });
  const dimensions = slice.dimensions === 0 ? embedder.dimensions() : slice.dimensions;
  return new Map([...found].filter(([, vector]) => vector.length === dimensions));
}

type Embedded = ReadonlyMap<string, Float32Array | TextFailure>;

/** Sends each distinct text once. @throws every error other than EmbedderUnavailable */
async function embedTexts(
  embedder: Embedder,
  distinct: ReadonlySet<string>,
  { slice, signal }: { readonly slice: Slice; readonly signal: AbortSignal },
): Promise<{ embedded: Embedded; tokens: number; failure: EmbedderUnavailable | undefined }> {
  const texts = [...distinct];
  const batches: string[][] = [];
  for (let from = 0; from < texts.length; from += embedder.batchSize) {
    batches.push(texts.slice(from, from + embedder.batchSize));
  }
  let tokens = 0;
  const onTokens = (count: number) => {
    tokens += count;
  };
  const call = { onTokens, owner: { projectId: slice.projectId, keyId: null } };
  const ends = await Promise.allSettled(batches.map((batch) => embedder.embed(batch, signal, call)));
  const embedded = new Map<string, Float32Array | TextFailure>();
  let failure: EmbedderUnavailable | undefined;
  for (const [place, end] of ends.entries()) {
    if (end.status === 'rejected') {
      if (!(end.reason instanceof EmbedderUnavailable)) throw end.reason;
      failure ??= end.reason;
      continue;
    }
    for (const [index, text] of (batches[place] ?? []).entries()) {
      const result = end.value[index];
      if (result !== undefined) embedded.set(text, result);
    }
  }
  return { embedded, tokens, failure };
}

function toNewVectors(
  { embedder, clock, logger }: EmbedDeps,
  { slice, chunks, embedded }: { slice: Slice; chunks: readonly MissingVector[]; embedded: Embedded },
): NewVector[] {
  return chunks.flatMap((chunk) => {
    const { seq, updatedAt } = chunk;
    const result = embedded.get(chunk.text);
    if (result === undefined) return [];
    if (result instanceof Float32Array) {
      return { seq, updatedAt, embedded: result, textKey: toTextKey(slice.projectId, embedder.model, chunk.text) };
    }
    const failure = scheduleRetry(chunk, result, clock.now());
    logger.warn({ chunk_id: chunk.id, reason: failure.reason, retry_at: failure.retryAt }, 'chunk not embedded');
    return { seq, updatedAt, embedded: failure };
  });
}

/** Divides the tokens of a slice among the chunks whose texts were sent. Providers count the tokens of a request only. */
function shareTokens(created: NewVector[], paid: readonly MissingVector[], tokens: number): NewVector[] {
  const lengths = new Map(paid.map(({ seq, text }) => [seq, text.length]));
  const weights = created.map(({ seq, embedded }) => (embedded instanceof Float32Array ? (lengths.get(seq) ?? 0) : 0));
  const shares = divideTokens(tokens, weights);
  return created.map((each, place) => ({ ...each, tokens: shares[place] ?? 0 }));
}

function scheduleRetry(chunk: MissingVector, { reason, isRefused }: TextFailure, now: number): StoredFailure {
  const failures = chunk.failures + 1;
  return { reason, failures, retryAt: isRefused ? null : now + retryDelayMs(textRetries, failures) };
}
