import { createHash } from 'node:crypto';
import { defaultResults, type Ranking, type ScoredChunk, type WordsReason } from '@quartermaster/contract';
import type { ProjectOwner } from '../../../platform/admission/owner.ts';
import { mapWithConcurrency } from '../../../platform/concurrency/map-with-concurrency.ts';
import { checkFilter } from '../../../stores/search/check-filter.ts';
import { cursorUnknown } from '../problems.ts';
import { answerTokens, boundTextTokens, boundTokens, cutText, envelopeTokens } from './answer-size.ts';
import { consolePage, writeAddress } from './chunk-address.ts';
import type { FoundChunks, KnowledgeStore, NamedRecord } from './knowledge-store.ts';
import { citationOf, namesIn, titleOf } from './passage-names.ts';
import { linkTo } from './resource-links.ts';
import { questionLimits, type SearchArguments } from './tool-arguments.ts';

/** One passage: a chunk, as the tool `search` returns it. */
export interface SearchResult {
  /** The address of the chunk, which is also the URI of its resource. */
  readonly id: string;
  readonly title: string;
  /** The page of the console. */
  readonly url: string;
  readonly text: string;
  /** Comparable within one collection only. */
  readonly score: number;
  readonly collection_id: string;
  readonly citation: Readonly<Record<string, unknown>>;
  /** The id of the rest of a text that alone exceeds the budget. */
  readonly next_id?: string;
}

export interface SearchAnswer {
  readonly results: readonly SearchResult[];
  /** The rankings that answered, with the number of collections that each of them answered for. */
  readonly rankings: ReadonlyArray<{ ranking: Ranking; reason?: WordsReason; collections: number }>;
  readonly next_cursor?: string;
  /** Present when the best passage scores too little: the documents may have no answer. */
  readonly no_good_match?: string;
  /** The number of passages within `top_k` that the budget excludes. */
  readonly omitted?: number;
  /** Present when the project has more collections than one question searches. */
  readonly not_searched?: string;
}

/** The project and the key, and the collection of the endpoint if it serves one. */
export interface KnowledgeCaller extends ProjectOwner {
  readonly collectionId?: string | undefined;
  /** Whether results have a `resource_link` for each document. Default: false. */
  readonly wantsLinks?: boolean | undefined;
  /** Aborts when the client disconnects, which ends its search. */
  readonly signal?: AbortSignal | undefined;
}

const concurrency = 4;

/** Searches collections and returns the best passages within the budget. */
export async function searchDocuments(
  store: KnowledgeStore,
  caller: KnowledgeCaller,
  question: SearchArguments,
): Promise<SearchAnswer> {
  if (question.filters !== undefined) checkFilter(question.filters, 'arguments/filters');
  const { top_k: topK = defaultResults, max_tokens: maxTokens = answerTokens.default } = question;
  const { ids, hasMore } = await findCollections(store, caller, question);
  const start = readCursor(caller, question);
  const depth = Math.min(start + topK + 1, Math.floor(questionLimits.ranked / Math.max(1, ids.length)));
  const { query: query_text, filters, expand = 0 } = question;
  const body = {
    query_text,
    top_k: depth,
    ...(filters === undefined ? {} : { filters }),
    ...(expand > 0 && { expand }),
  };
  const { projectId, keyId, signal } = caller;
  const answers = await mapWithConcurrency(ids, concurrency, (id) =>
    store.chunks.query({ projectId, keyId, collectionIds: [id] }, body, signal),
  );
  const ranked = joinByRank(answers.map(({ items }) => items));
  const page = ranked.slice(start, start + topK);
  const results = await fillAnswer(store, caller, { page, maxTokens });
  const next = start + results.length;
  const omitted = page.length - results.length;
  return {
    results,
    rankings: countRankings(answers.flatMap(({ rankings }) => rankings)),
    ...(answers.some(({ hasGoodMatch }) => hasGoodMatch) ? {} : { no_good_match: noGoodMatch }),
    ...(results.length > 0 && next < ranked.length ? { next_cursor: writeCursor(caller, question, next) } : {}),
    ...(omitted === 0 ? {} : { omitted }),
    ...(hasMore
      ? { not_searched: `Only the newest ${ids.length} collections were searched. Name others in collections.` }
      : {}),
  };
}

const noGoodMatch =
  'No passage matches well: the documents may not answer this question. Check the passages, ask in other words, or say so.';

function countRankings(rankings: FoundChunks['rankings']): SearchAnswer['rankings'] {
  const groups = Map.groupBy(rankings, ({ ranking, reason }) => `${ranking} ${reason}`);
  return [...groups.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const { ranking, reason } = first;
    return [{ ranking, ...(reason === null ? {} : { reason }), collections: 1 + others.length }];
  });
}

async function findCollections(
  { collections }: KnowledgeStore,
  { projectId, collectionId }: KnowledgeCaller,
  question: SearchArguments,
): Promise<{ readonly ids: readonly string[]; readonly hasMore: boolean }> {
  if (collectionId !== undefined) return { ids: [collectionId], hasMore: false };
  if (question.collections !== undefined) return { ids: [...new Set(question.collections)], hasMore: false };
  const { items, hasMore } = await collections.list(projectId, { limit: questionLimits.collections });
  return { ids: items.map(({ collection_id }) => collection_id), hasMore };
}

/** Scores of different collections are not comparable. Therefore the first of each come first, then the second of each. */
function joinByRank(lists: ReadonlyArray<readonly ScoredChunk[]>): ScoredChunk[] {
  const ranked = lists.flatMap((list) => list.map((chunk, rank) => ({ chunk, rank })));
  ranked.sort((a, b) => a.rank - b.rank || b.chunk.score - a.chunk.score);
  return ranked.map(({ chunk }) => chunk);
}

interface AnswerPage {
  readonly page: readonly ScoredChunk[];
  readonly maxTokens: number;
}

/** Takes whole passages in their order while they fit. A first passage that is too long is cut. */
async function fillAnswer(
  store: KnowledgeStore,
  { projectId, wantsLinks = false }: KnowledgeCaller,
  { page, maxTokens }: AnswerPage,
): Promise<SearchResult[]> {
  const recordIds = new Set(page.flatMap(({ record_id: id }) => (id === null ? [] : [id])));
  const names = await store.records.name(projectId, [...recordIds]);
  const results: SearchResult[] = [];
  let left = maxTokens - envelopeTokens;
  for (const chunk of page) {
    const described = describe(chunk, { names, projectId, consoleUrl: store.consoleUrl() });
    const around = boundAround(described, wantsLinks);
    const fitting = textsOf(chunk).find(({ text, numTokens }) => around + boundTextTokens(text, numTokens) <= left);
    if (fitting !== undefined) {
      results.push({ ...described, text: fitting.text });
      left -= around + boundTextTokens(fitting.text, fitting.numTokens);
      continue;
    }
    if (results.length === 0) results.push(await cutResult(store, described, { chunk, left: left - around }));
    break;
  }
  return results;
}

/** Returns the text of a passage with its neighbours, if it has some, and without them. */
function textsOf({ content, num_tokens: numTokens, neighbours }: ScoredChunk) {
  const { before = [], after = [] } = neighbours ?? {};
  const own = { text: content, numTokens };
  if (before.length + after.length === 0) return [own];
  const all = [...before, { content, num_tokens: numTokens }, ...after];
  // Two line breaks between texts are at most two tokens.
  const total = all.reduce((sum, each) => sum + each.num_tokens + 2, 0);
  return [{ text: all.map((each) => each.content).join('\n\n'), numTokens: total }, own];
}

/** Bounds the tokens of a result without its text. */
function boundAround(described: SearchResult, hasLink: boolean): number {
  const { title, citation } = described;
  const link = hasLink ? boundTokens(linkTo(described), [title, title]) : 0;
  return boundTokens(described, [title, ...namesIn(citation)]) + link;
}

interface Naming {
  readonly names: ReadonlyMap<string, NamedRecord>;
  readonly projectId: string;
  readonly consoleUrl: string;
}

function describe(chunk: ScoredChunk, { names, projectId, consoleUrl }: Naming): SearchResult {
  const { collection_id, chunk_id, record_id: recordId } = chunk;
  const record = recordId === null ? undefined : names.get(recordId);
  return {
    id: writeAddress({ collectionId: collection_id, kind: 'chunks', id: chunk_id, offset: 0 }),
    title: titleOf(record, chunk.content),
    url: consolePage(consoleUrl, { projectId, collectionId: collection_id, recordId, chunkId: chunk_id }),
    text: '',
    score: Math.round(chunk.score * 10_000) / 10_000,
    collection_id,
    citation: citationOf(record, chunk),
  };
}

async function cutResult(
  store: KnowledgeStore,
  described: SearchResult,
  { chunk, left }: { chunk: ScoredChunk; left: number },
): Promise<SearchResult> {
  const text = await cutText(chunk.content, left - boundTokens(described.id), store.countTokens);
  return { ...described, text, next_id: `${described.id}?offset=${text.length}` };
}

/** Ties a cursor to its question, so that it cannot continue another one. */
function digestOf({ projectId, collectionId }: KnowledgeCaller, { query, filters, collections }: SearchArguments) {
  const asked = JSON.stringify([projectId, collectionId ?? null, query, filters ?? null, collections ?? null]);
  return createHash('sha256').update(asked).digest('base64url').slice(0, 16);
}

function writeCursor(caller: KnowledgeCaller, question: SearchArguments, start: number): string {
  return `${start}.${digestOf(caller, question)}`;
}

function readCursor(caller: KnowledgeCaller, question: SearchArguments): number {
  if (question.cursor === undefined) return 0;
  const [, start, digest] = /^(\d{1,3})\.([\w-]{16})$/.exec(question.cursor) ?? [];
  if (start === undefined || digest !== digestOf(caller, question)) throw cursorUnknown();
  return Number(start);
}
