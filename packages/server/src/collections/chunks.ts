import type { Chunk, ChunkCreate, ChunkQuery, ChunkUpdate, ListQuery, ScoredChunk } from '@quartermaster/contract';
import type { Clock } from '../kernel/clock.ts';
import { isId, type NewId } from '../kernel/identifier.ts';
import type { ChunkKey, ChunkListKey, ChunkRepository, StoredChunk } from './chunk-repository.ts';
import { type Collections, checkCursors } from './collections.ts';
import { type CountTokens, measureText } from './measure-text.ts';
import type { Page } from './page.ts';
import { chunkNotFound, collectionFull, collectionNotFound, fieldRefused, pairContentFixed } from './problems.ts';
import { fillBudget } from './query-budget.ts';
import { readText } from './read-fields.ts';
import type { Records } from './records.ts';

export interface ChunksDeps {
  readonly collections: Pick<Collections, 'find'>;
  readonly records: Pick<Records, 'get'>;
  readonly chunks: ChunkRepository;
  readonly countTokens: CountTokens;
  readonly clock: Clock;
  readonly newId: NewId;
}

export interface Chunks {
  create(projectId: string, collectionId: string, body: ChunkCreate): Promise<Chunk>;
  get(key: ChunkKey): Promise<Chunk>;
  /** Of a collection, or of one of its records. */
  list(of: ChunkListKey, query: ListQuery): Promise<Page<Chunk>>;
  update(key: ChunkKey, body: ChunkUpdate): Promise<Chunk>;
  remove(key: ChunkKey): Promise<void>;
  /** The chunks that answer best, best first. */
  query(projectId: string, collectionId: string, body: ChunkQuery): Promise<ScoredChunk[]>;
}

/** Chunks of a collection. Whatever is not there, or is another project's, is OBJECT_NOT_FOUND. */
export function createChunks(deps: ChunksDeps): Chunks {
  const { collections, chunks, clock, newId, countTokens } = deps;

  async function find(key: ChunkKey): Promise<StoredChunk> {
    await collections.find(key.projectId, key.collectionId);
    const found = isId(key.chunkId) ? await chunks.find(key) : undefined;
    if (found === undefined) throw chunkNotFound(key.chunkId);
    return found;
  }

  return {
    async create(projectId, collectionId, body) {
      const { capacity } = await collections.find(projectId, collectionId);
      const content = readContent(body.content);
      const { numTokens, words } = await measureText(content, countTokens);
      const now = clock.now();
      const text = { content, question: null, answer: null, numTokens, metadata: body.metadata ?? {}, locator: null };
      const chunk = { ...text, id: newId('chunk'), ordinal: 0, createdAt: now, words };
      const outcome = await chunks.add(projectId, collectionId, chunk);
      if (outcome === 'gone') throw collectionNotFound(collectionId);
      if (outcome === 'full') throw collectionFull(collectionId, capacity);
      return toChunkItem({ ...chunk, recordId: null, collectionId, updatedAt: now });
    },
    get: async (key) => toChunkItem(await find(key)),
    async list(of, query) {
      const { projectId, collectionId, recordId } = of;
      if (recordId === undefined) await collections.find(projectId, collectionId);
      else await deps.records.get({ projectId, collectionId, recordId });
      const page = await chunks.list(of, checkCursors(query, chunkNotFound));
      if (page === undefined) throw chunkNotFound(query.after ?? query.before ?? '');
      return { items: page.items.map(toChunkItem), hasMore: page.hasMore };
    },
    async update(key, body) {
      const before = await find(key);
      const { metadata } = body;
      if (body.content === undefined && metadata === undefined) return toChunkItem(before);
      if (body.content !== undefined && before.question !== null) throw pairContentFixed(key.chunkId);
      const content = body.content === undefined ? undefined : readContent(body.content);
      const text = content === undefined ? undefined : { content, ...(await measureText(content, countTokens)) };
      const change = {
        updatedAt: clock.now(),
        ...(metadata === undefined ? {} : { metadata }),
        ...(text === undefined ? {} : { text }),
      };
      if (!(await chunks.change(key, change))) throw chunkNotFound(key.chunkId);
      const { content: newContent, numTokens } = text ?? before;
      return toChunkItem({ ...before, ...change, content: newContent, numTokens });
    },
    async remove(key) {
      await find(key);
      if (!(await chunks.remove(key))) throw chunkNotFound(key.chunkId);
    },
    async query(projectId, collectionId, body) {
      await collections.find(projectId, collectionId);
      const { words } = await measureText(body.query_text, () => 0);
      if (words.length === 0) return [];
      const topK = body.top_k ?? 3;
      // With a budget some of the best may be too long: then the next ones get their chance.
      const limit = body.max_tokens === undefined ? topK : topK * candidatesPerResult;
      const found = await chunks.search({ collectionId, words, limit });
      const threshold = body.score_threshold ?? 0;
      const good = found.filter((chunk) => chunk.score >= threshold);
      const taken = fillBudget(good, { maxItems: topK, maxTokens: body.max_tokens ?? Number.POSITIVE_INFINITY });
      return taken.map((chunk) => ({ ...toChunkItem(chunk), score: Math.min(1, Math.max(0, chunk.score)) }));
    },
  };
}

/** How many of the next best are looked at for one place in the answer, when a budget makes some not fit. */
const candidatesPerResult = 5;

function readContent(content: string): string {
  const text = readText(content, 'body/content');
  if (text.trim() === '') throw fieldRefused('body/content', 'blank', 'text');
  return text;
}

function toChunkItem(chunk: StoredChunk): Chunk {
  return {
    chunk_id: chunk.id,
    record_id: chunk.recordId,
    collection_id: chunk.collectionId,
    content: chunk.content,
    ...(chunk.question === null ? {} : { question: chunk.question }),
    ...(chunk.answer === null ? {} : { answer: chunk.answer }),
    num_tokens: chunk.numTokens,
    metadata: chunk.metadata,
    locator: chunk.locator,
    updated_timestamp: chunk.updatedAt,
    created_timestamp: chunk.createdAt,
  };
}
