import {
  type Chunk,
  type ChunkCreate,
  type ChunkListQuery,
  type ChunkUpdate,
  type Locator,
  textLimits,
} from '@quartermaster/contract';
import type { CommonDeps } from '../../../platform/common-deps.ts';
import { isId } from '../../../platform/identifier.ts';
import { checkCursors } from '../../../platform/list-cursors.ts';
import type { Page } from '../../../platform/page.ts';
import { fieldInvalid } from '../../../platform/validation/validation-error.ts';
import { contentOfPair } from '../../extraction/extraction.ts';
import type { ScanBox } from '../../extraction/page-protocol.ts';
import { countFieldTerms } from '../../search/analysis/field-terms.ts';
import { type CountTokens, measureText } from '../../search/analysis/measure-text.ts';
import type { Collections } from '../collections.ts';
import { chunkNotFound, collectionFull, collectionNotFound, notAPair, pairHasNoContent } from '../problems.ts';
import { readMetadata, readText } from '../read-fields.ts';
import type { Records } from '../records/records.ts';
import type { AnswerQuestion, AskedCollections, ChunkAnswer, ChunkQuestion } from './answer-question.ts';
import { toChunkItem } from './chunk-items.ts';
import type { ChunkKey, ChunkListKey, ChunkRepository, StoredChunk } from './chunk-repository.ts';

export interface ChunksDeps extends Pick<CommonDeps, 'clock' | 'newId'> {
  readonly collections: Pick<Collections, 'find' | 'findCounted'>;
  readonly records: Pick<Records, 'get'>;
  readonly chunks: ChunkRepository;
  readonly answerQuestion: AnswerQuestion;
  /** Called when a chunk was created or changed directly and has no vector. */
  readonly onVectorMissing: (collectionId: string) => void;
  readonly countTokens: CountTokens;
}

export interface Chunks {
  create(projectId: string, collectionId: string, body: ChunkCreate): Promise<Chunk>;
  get(key: ChunkKey): Promise<Chunk>;
  /** Returns where the chunk stands on scanned pages. Empty for other chunks. */
  findBoxes(key: ChunkKey): Promise<readonly ScanBox[]>;
  /** Lists the chunks of a collection or of one record. */
  list(of: ChunkListKey, query: ChunkListQuery): Promise<Page<Chunk>>;
  update(key: ChunkKey, body: ChunkUpdate): Promise<Chunk>;
  remove(key: ChunkKey): Promise<void>;
  /**
   * Returns the chunks of one or more collections that match best, best first, and the rankings that found them.
   * @param signal ends the search when it aborts
   */
  query(of: AskedCollections, body: ChunkQuestion, signal?: AbortSignal): Promise<ChunkAnswer>;
}

/** Manages the chunks of a collection. Missing objects and objects of other projects give OBJECT_NOT_FOUND. */
export function createChunks(deps: ChunksDeps): Chunks {
  const { collections, chunks, answerQuestion, clock, newId, countTokens } = deps;

  async function find(key: ChunkKey): Promise<StoredChunk> {
    const found = isId(key.chunkId) ? await chunks.find(key) : undefined;
    if (found !== undefined) return found;
    await collections.find(key.projectId, key.collectionId);
    throw chunkNotFound(key.chunkId);
  }

  /** Checks that the collection or record exists, and returns its stored number of chunks if the query asks for it. */
  async function countChunks({ projectId, collectionId, recordId }: ChunkListKey, query: ChunkListQuery) {
    if (recordId !== undefined) {
      const { num_chunks: numChunks } = await deps.records.get({ projectId, collectionId, recordId });
      return query.count === true ? numChunks : undefined;
    }
    if (query.count === true) return (await collections.findCounted(projectId, collectionId)).numChunks;
    await collections.find(projectId, collectionId);
    return undefined;
  }

  async function measure(content: string) {
    const { numTokens, words: folded } = await measureText(content, countTokens);
    return { numTokens, folded };
  }

  return {
    async create(projectId, collectionId, body) {
      const { capacity } = await collections.find(projectId, collectionId);
      const content = readContent(body.content);
      const metadata = readMetadata(body.metadata ?? {});
      const { numTokens, folded } = await measure(content);
      const words = countFieldTerms({ content }, folded);
      const text = { content, numTokens, words, question: null, answer: null, locator: null };
      const now = clock.now();
      const chunk = { ...text, metadata, id: newId('chunk'), ordinal: 0, createdAt: now };
      const outcome = await chunks.add(projectId, collectionId, chunk);
      if (outcome === 'gone') throw collectionNotFound(collectionId);
      if (outcome === 'full') throw collectionFull(collectionId, capacity);
      deps.onVectorMissing(collectionId);
      return toChunkItem({ ...chunk, recordId: null, record: null, collectionId, updatedAt: now });
    },
    get: async (key) => toChunkItem(await find(key)),
    findBoxes: (key) => chunks.findBoxes(key),
    async list(of, query) {
      const page = await chunks.list(of, checkCursors(query, 'chunk'));
      const stored = page.items.length === 0 || query.count === true ? await countChunks(of, query) : undefined;
      // The repository counts edited chunks, because no number of them is stored.
      const total = page.total ?? (stored === undefined ? undefined : { count: stored, isExact: true });
      return { items: page.items.map(toChunkItem), hasMore: page.hasMore, ...(total && { total }) };
    },
    async update(key, body) {
      const before = await find(key);
      const metadata = body.metadata && readMetadata(body.metadata);
      const texts = readTexts(body, before);
      if (texts === undefined && metadata === undefined) return toChunkItem(before);
      const locator = withoutOffsets(before.locator);
      const text = texts && { ...texts, ...(await measure(texts.content)), locator };
      const change = {
        updatedAt: clock.now(),
        ...(metadata === undefined ? {} : { metadata }),
        ...(text === undefined ? {} : { text }),
      };
      if (!(await chunks.change(key, change))) throw chunkNotFound(key.chunkId);
      if (text !== undefined) deps.onVectorMissing(key.collectionId);
      const { content, question, answer, numTokens, locator: place } = text ?? before;
      return toChunkItem({ ...before, ...change, content, question, answer, numTokens, locator: place });
    },
    async remove(key) {
      await find(key);
      if (!(await chunks.remove(key))) throw chunkNotFound(key.chunkId);
    },
    query: answerQuestion,
  };
}

/** A text that a caller wrote is not part of the extracted text. */
function withoutOffsets(locator: Locator | null): Locator | null {
  if (locator === null) return null;
  const { char_start: _, char_end: __, ...place } = locator;
  return place;
}

type Texts = Pick<StoredChunk, 'content' | 'question' | 'answer'>;

/** Returns the new texts of a chunk; undefined when none was sent. */
function readTexts(body: ChunkUpdate, { id, question, answer }: StoredChunk): Texts | undefined {
  const sent = (['question', 'answer'] as const).filter((field) => body[field] !== undefined);
  if (question === null || answer === null) {
    if (sent[0] !== undefined) throw notAPair(id, sent[0]);
    return body.content === undefined ? undefined : { content: readContent(body.content), question, answer };
  }
  if (body.content !== undefined) throw pairHasNoContent(id);
  if (sent.length === 0) return undefined;
  const read = (field: 'question' | 'answer', text: string) =>
    body[field] === undefined ? text : readContent(body[field], field).trim();
  const pair = { question: read('question', question), answer: read('answer', answer) };
  return { ...pair, content: readPairContent(pair) };
}

/** The bound of a row of a sheet, which has the same fields. */
function readPairContent({ question, answer }: { question: string; answer: string }): string {
  const found = question.length + answer.length;
  if (found > textLimits.content) {
    const expected = `at most ${textLimits.content} characters with the question`;
    throw fieldInvalid('body/answer', `${found} characters`, expected);
  }
  return contentOfPair(question, answer);
}

function readContent(content: string, field = 'content'): string {
  const path = `body/${field}`;
  const text = readText(content, path);
  if (text.trim() === '') throw fieldInvalid(path, 'blank text', 'text with at least one visible character');
  return text;
}
