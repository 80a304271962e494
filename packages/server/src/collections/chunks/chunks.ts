import type {
  Chunk,
  ChunkCreate,
  ChunkQuery,
  ChunkUpdate,
  ListQuery,
  Locator,
  Ranking,
  RetrievalDefaults,
  ScoredChunk,
  WordsReason,
} from '@quartermaster/contract';
import type { Clock } from '../../kernel/clock.ts';
import { isId, type NewId } from '../../kernel/identifier.ts';
import type { Page } from '../../kernel/page.ts';
import { fieldInvalid } from '../../kernel/validation/validation-error.ts';
import { joinFrequencies } from '../../search/analysis/tokenizer.ts';
import { checkFilter } from '../../search/check-filter.ts';
import { type ChunkFilter, CollectionMissing } from '../../search/chunk-index.ts';
import type { Hit } from '../../search/query/fuse.ts';
import { type CountTokens, measureText } from '../../search/query/measure-text.ts';
import { fillBudget } from '../../search/query/query-budget.ts';
import type { Retrieve } from '../../search/query/retrieve.ts';
import { type Collections, checkCursors } from '../collections.ts';
import { chunkNotFound, collectionFull, collectionNotFound, pairContentFixed } from '../problems.ts';
import type { Records } from '../records/records.ts';
import { createChunkItems } from './chunk-items.ts';
import type { ChunkKey, ChunkListKey, ChunkRepository, StoredChunk } from './chunk-repository.ts';
import { checkWeights, readMetadata, readText } from './read-fields.ts';

export interface ChunksDeps {
  readonly collections: Pick<Collections, 'find'>;
  readonly records: Pick<Records, 'get' | 'name'>;
  readonly chunks: ChunkRepository;
  readonly retrieve: Retrieve<StoredChunk>;
  /** Called when a chunk was created or changed directly and has no vector. */
  readonly onVectorMissing: (collectionId: string) => void;
  readonly countTokens: CountTokens;
  readonly clock: Clock;
  readonly newId: NewId;
}

/** A query of the API whose filter may have conditions on dates. */
export type ChunkQuestion = Omit<ChunkQuery, 'filters'> & { readonly filters?: ChunkFilter };

export interface ChunkAnswer {
  readonly items: readonly ScoredChunk[];
  readonly ranking: Ranking;
  /** Why words alone answered; otherwise null. */
  readonly reason: WordsReason | null;
}

export interface Chunks {
  create(projectId: string, collectionId: string, body: ChunkCreate): Promise<Chunk>;
  get(key: ChunkKey): Promise<Chunk>;
  /** Lists the chunks of a collection or of one record. */
  list(of: ChunkListKey, query: ListQuery): Promise<Page<Chunk>>;
  update(key: ChunkKey, body: ChunkUpdate): Promise<Chunk>;
  remove(key: ChunkKey): Promise<void>;
  /**
   * Returns the chunks that match best, best first, and the ranking that found them.
   * @param signal ends the search when it aborts
   */
  query(projectId: string, collectionId: string, body: ChunkQuestion, signal?: AbortSignal): Promise<ChunkAnswer>;
}

/** Manages the chunks of a collection. Missing objects and objects of other projects give OBJECT_NOT_FOUND. */
export function createChunks(deps: ChunksDeps): Chunks {
  const { collections, chunks, clock, newId, countTokens } = deps;
  const { toItem, toItems } = createChunkItems(deps.records);

  async function find(key: ChunkKey): Promise<StoredChunk> {
    await collections.find(key.projectId, key.collectionId);
    const found = isId(key.chunkId) ? await chunks.find(key) : undefined;
    if (found === undefined) throw chunkNotFound(key.chunkId);
    return found;
  }

  async function measure(content: string) {
    const { numTokens, words } = await measureText(content, countTokens);
    return { numTokens, words: joinFrequencies(words) };
  }

  return {
    async create(projectId, collectionId, body) {
      const { capacity } = await collections.find(projectId, collectionId);
      const content = readContent(body.content);
      const text = { content, ...(await measure(content)), question: null, answer: null, locator: null };
      const now = clock.now();
      const metadata = readMetadata(body.metadata ?? {});
      const chunk = { ...text, metadata, id: newId('chunk'), ordinal: 0, createdAt: now };
      const outcome = await chunks.add(projectId, collectionId, chunk);
      if (outcome === 'gone') throw collectionNotFound(collectionId);
      if (outcome === 'full') throw collectionFull(collectionId, capacity);
      deps.onVectorMissing(collectionId);
      return toItem(projectId, { ...chunk, recordId: null, collectionId, updatedAt: now });
    },
    get: async (key) => toItem(key.projectId, await find(key)),
    async list(of, query) {
      const { projectId, collectionId, recordId } = of;
      if (recordId === undefined) await collections.find(projectId, collectionId);
      else await deps.records.get({ projectId, collectionId, recordId });
      const page = await chunks.list(of, checkCursors(query, chunkNotFound));
      if (page === undefined) throw chunkNotFound(query.after ?? query.before ?? '');
      return { items: await toItems(projectId, page.items), hasMore: page.hasMore };
    },
    async update(key, body) {
      const before = await find(key);
      const metadata = body.metadata && readMetadata(body.metadata);
      if (body.content === undefined && metadata === undefined) return toItem(key.projectId, before);
      if (body.content !== undefined && before.question !== null) throw pairContentFixed(key.chunkId);
      const content = body.content === undefined ? undefined : readContent(body.content);
      const locator = withoutOffsets(before.locator);
      const text = content === undefined ? undefined : { content, ...(await measure(content)), locator };
      const change = {
        updatedAt: clock.now(),
        ...(metadata === undefined ? {} : { metadata }),
        ...(text === undefined ? {} : { text }),
      };
      if (!(await chunks.change(key, change))) throw chunkNotFound(key.chunkId);
      if (text !== undefined) deps.onVectorMissing(key.collectionId);
      const { content: newContent, numTokens, locator: newLocator } = text ?? before;
      return toItem(key.projectId, { ...before, ...change, content: newContent, numTokens, locator: newLocator });
    },
    async remove(key) {
      await find(key);
      if (!(await chunks.remove(key))) throw chunkNotFound(key.chunkId);
    },
    async query(projectId, collectionId, body, signal) {
      if (body.filters !== undefined) checkFilter(body.filters, 'body/filters');
      if (!isId(collectionId)) throw collectionNotFound(collectionId);
      const measured = await measureText(body.query_text, () => 0);
      const words = [...measured.words.keys()];
      const topK = body.top_k ?? 3;
      // With a budget, some of the best chunks may be too long. Additional candidates can replace them.
      const limit = body.max_tokens === undefined ? topK : topK * candidatesPerResult;
      const question = {
        ...{ projectId, collectionId, text: body.query_text, words, limit, filter: body.filters, signal },
        retrieval: readRetrieval(body),
      };
      const { hits, ranking, reason } = await deps.retrieve(question).catch((error: unknown) => {
        throw error instanceof CollectionMissing ? collectionNotFound(collectionId) : error;
      });
      const threshold = body.score_threshold ?? 0;
      const good = hits.filter(({ score }) => score >= threshold);
      const stored = await chunks.fetch(
        collectionId,
        good.filter(({ chunk }) => chunk === undefined).map(({ seq }) => seq),
      );
      const found = good.flatMap((hit) => {
        const chunk = hit.chunk ?? stored.get(hit.seq);
        return chunk === undefined ? [] : [{ chunk, hit, numTokens: chunk.numTokens }];
      });
      const selected = fillBudget(found, { maxItems: topK, maxTokens: body.max_tokens ?? Number.POSITIVE_INFINITY });
      const described = await toItems(
        projectId,
        selected.map(({ chunk }) => chunk),
      );
      const items = described.map((item, place) => ({ ...item, score: selected[place]?.hit.score ?? 0 }));
      if (body.explain !== true) return { items, ranking, reason };
      const explanations = await Promise.all(selected.map(({ chunk, hit }) => explain(chunk, hit, words)));
      return { items: items.map((item, place) => ({ ...item, ...explanations[place] })), ranking, reason };
    },
  };
}

/** Returns only what the question sets itself. */
function readRetrieval({ mode, weights, min_similarity }: ChunkQuestion): RetrievalDefaults {
  checkWeights(weights, 'body/weights');
  return {
    ...(mode === undefined ? {} : { mode }),
    ...(weights === undefined ? {} : { weights }),
    ...(min_similarity === undefined ? {} : { min_similarity }),
  };
}

async function explain({ content }: StoredChunk, { words, vector }: Hit<StoredChunk>, queryWords: readonly string[]) {
  const has = words === null ? undefined : (await measureText(content, () => 0)).words;
  const matched = queryWords.filter((word) => has?.has(word));
  return { explanation: { words: words && { ...words, matched }, vector } };
}

/** A text that a caller wrote is not part of the extracted text. */
function withoutOffsets(locator: Locator | null): Locator | null {
  if (locator === null) return null;
  const { char_start: _, char_end: __, ...place } = locator;
  return place;
}

/** The number of candidates for each result when a budget may exclude some. */
const candidatesPerResult = 5;

function readContent(content: string): string {
  const text = readText(content, 'body/content');
  if (text.trim() === '') throw fieldInvalid('body/content', 'blank text', 'text with at least one visible character');
  return text;
}
