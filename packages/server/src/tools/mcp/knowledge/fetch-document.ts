import type { Chunk } from '@quartermaster/contract';
import { passageNotFound } from '../problems.ts';
import { answerTokens, boundTextTokens, boundTokens, cutText, envelopeTokens, restOf } from './answer-size.ts';
import { type Address, consolePage, readAddress, writeAddress } from './chunk-address.ts';
import type { KnowledgeStore } from './knowledge-store.ts';
import { citationOf, namesIn, titleOf } from './passage-names.ts';
import type { KnowledgeCaller } from './search-documents.ts';

/** A text as the tool `fetch` returns it. */
export interface FetchedDocument {
  readonly id: string;
  readonly title: string;
  readonly url: string;
  readonly text: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface FetchOptions {
  readonly id: string;
  readonly max_tokens?: number;
}

/**
 * Reads a chunk or a record, from the position in its address to the end of the budget.
 * @throws Problem OBJECT_NOT_FOUND, equally for what does not exist and for what belongs to another project or collection
 */
export async function fetchDocument(
  store: KnowledgeStore,
  caller: KnowledgeCaller,
  { id, max_tokens: maxTokens = answerTokens.default }: FetchOptions,
): Promise<FetchedDocument> {
  const address = readAddress(id);
  if (caller.collectionId !== undefined && caller.collectionId !== address.collectionId) throw passageNotFound(id);
  const request = { address, maxTokens, projectId: caller.projectId };
  return address.kind === 'chunks' ? await fetchChunk(store, request) : await fetchRecord(store, request);
}

interface FetchRequest {
  readonly projectId: string;
  readonly address: Address;
  readonly maxTokens: number;
}

async function fetchChunk(store: KnowledgeStore, { projectId, address, maxTokens }: FetchRequest) {
  const { collectionId, id: chunkId, offset } = address;
  const chunk = await store.chunks.get({ projectId, collectionId, chunkId });
  const recordId = chunk.record_id;
  const record = recordId === null ? undefined : (await store.records.name(projectId, [recordId])).get(recordId);
  const url = consolePage(store.consoleUrl(), { projectId, collectionId, recordId, chunkId });
  const described = {
    id: writeAddress(address),
    title: titleOf(record, chunk.content),
    url,
    metadata: { collection_id: collectionId, ...citationOf(record, chunk) },
  };
  const around = boundTokens(described, [described.title, ...namesIn(described.metadata)]);
  const { text, next } = await readParts(store, [chunk], { address, maxTokens: maxTokens - around, readable: 1 });
  return withNext({ ...described, text }, next && { ...address, offset: next.offset + (next.isSame ? offset : 0) });
}

async function fetchRecord(store: KnowledgeStore, { projectId, address, maxTokens }: FetchRequest) {
  const { collectionId, id: recordId, after } = address;
  const key = { projectId, collectionId, recordId };
  const record = await store.records.get(key);
  const name = (await store.records.name(projectId, [recordId])).get(recordId);
  const cursor = after === undefined ? {} : { after };
  const page = await store.chunks.list(key, { order: 'asc', limit: 100, ...cursor });
  const url = consolePage(store.consoleUrl(), { projectId, collectionId, recordId, ...firstOf(page.items, after) });
  const described = {
    id: writeAddress(address),
    title: titleOf(name, page.items[0]?.content ?? ''),
    url,
    metadata: {
      collection_id: collectionId,
      record_id: recordId,
      status: record.status,
      ...(typeof name?.fileId === 'string' ? { file_id: name.fileId } : {}),
    },
  };
  const room = maxTokens - boundTokens(described, [described.title]);
  const readable = page.hasMore ? page.items.length - 1 : page.items.length;
  const { text, next } = await readParts(store, page.items, { address, maxTokens: room, readable });
  const offset = (next?.offset ?? 0) + (next?.isSame === true ? address.offset : 0);
  return withNext({ ...described, text }, next && { ...address, after: next.after ?? after, offset });
}

function firstOf(chunks: readonly Chunk[], after: string | undefined): { chunkId?: string } {
  const [first] = chunks;
  return after === undefined || first === undefined ? {} : { chunkId: first.chunk_id };
}

function withNext(document: FetchedDocument, next: Address | undefined): FetchedDocument {
  if (next === undefined) return document;
  return { ...document, metadata: { ...document.metadata, next_id: writeAddress(next) } };
}

/** Where the next part starts. */
interface NextPart {
  /** Undefined when it starts in the first chunk. */
  readonly after: string | undefined;
  readonly offset: number;
  /** Whether it starts in the chunk in which this part starts, so that both offsets add up. */
  readonly isSame: boolean;
}

/**
 * Joins whole chunks while they fit. A first chunk that is too long is cut. A chunk after the first `readable` ones is not read, but determines
 * how the next part continues.
 */
async function readParts(
  store: KnowledgeStore,
  chunks: readonly Chunk[],
  { address, maxTokens, readable }: { address: Address; maxTokens: number; readable: number },
): Promise<{ readonly text: string; readonly next?: NextPart }> {
  const room = maxTokens - envelopeTokens;
  let [text, left] = ['', room];
  let previous: Chunk | undefined;
  for (const [index, chunk] of chunks.entries()) {
    const overlap = previous === undefined ? address.offset : overlapOf(previous, chunk);
    const rest = restOf(chunk.content, overlap);
    const glue = glueOf(previous, chunk);
    const part = `${glue}${rest}`;
    const tokens = boundTextTokens(part, chunk.num_tokens + 2);
    if (tokens <= left && index < readable) {
      text += part;
      left -= tokens;
    } else if (previous !== undefined) {
      return { text: `${text}${glue}`, next: { after: previous.chunk_id, offset: overlap, isSame: false } };
    } else {
      const start = await cutText(rest, room, store.countTokens);
      if (start.length < rest.length) {
        return { text: start, next: { after: undefined, offset: start.length, isSame: true } };
      }
      text = start;
      left = 0;
    }
    previous = chunk;
  }
  return { text };
}

/** The number of characters at the start of a chunk that the chunk before it ends with, because splitters repeat them. */
function overlapOf(previous: Chunk, chunk: Chunk): number {
  const [end, start] = [previous.locator?.char_end, chunk.locator?.char_start];
  if (end === undefined || start === undefined || end <= start) return 0;
  return previous.content.endsWith(chunk.content.slice(0, end - start)) ? end - start : 0;
}

function glueOf(previous: Chunk | undefined, chunk: Chunk): string {
  if (previous === undefined) return '';
  const [end, start] = [previous.locator?.char_end, chunk.locator?.char_start];
  return end !== undefined && start !== undefined && start <= end ? '' : '\n\n';
}
