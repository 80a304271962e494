import { setImmediate } from 'node:timers/promises';
import {
  type ChunkQuery,
  defaultResults,
  mostEqualChunks,
  type Reranking,
  type RetrievalDefaults,
  type ScoredChunk,
} from '@quartermaster/contract';
import type { ProjectOwner } from '../../../platform/admission/owner.ts';
import { isId } from '../../../platform/identifier.ts';
import { checkCursorForm } from '../../../platform/list-cursors.ts';
import { measureText } from '../../search/analysis/measure-text.ts';
import { type AskedWords, matchWords, toAskedWords } from '../../search/analysis/question-terms.ts';
import { checkFilter } from '../../search/check-filter.ts';
import { type ChunkFilter, CollectionMissing, type DescribedChunk } from '../../search/chunk-index.ts';
import type { DistinctAnswer, FindDistinct, RankedCollection } from '../../search/query/find-distinct.ts';
import type { Hit } from '../../search/query/fuse.ts';
import { type SelectedHits, selectHits } from '../../search/query/select-hits.ts';
import { type RerankDeps, type RerankedHit, rerankHits } from '../../search/reranking/rerank-hits.ts';
import { chunkNotFound, collectionNotFound } from '../problems.ts';
import { checkWeights } from '../read-fields.ts';
import { toChunkItem } from './chunk-items.ts';
import type { ChunkRepository, Neighbour, StoredChunk } from './chunk-repository.ts';
import { isGoodMatch } from './good-match.ts';

/** A query of the API whose filter may have conditions on dates. */
export type ChunkQuestion = Omit<ChunkQuery, 'filters'> & { readonly filters?: ChunkFilter };

export interface ChunkAnswer {
  /** Best first. */
  readonly items: readonly ScoredChunk[];
  /** Whether a question with the id of the last item as `after` finds others. */
  readonly hasMore: boolean;
  /** How each collection was ranked, in the order of the question. */
  readonly rankings: readonly RankedCollection[];
  readonly reranking: Reranking;
  /** Says why there are no items although chunks match; empty otherwise. */
  readonly warnings: readonly string[];
  /** Whether the best score reaches the threshold of the question or, without one, whether there probably is an answer. */
  readonly hasGoodMatch: boolean;
}

/** The caller, and the collections that it asks. */
export interface AskedCollections extends ProjectOwner {
  /** At least one. */
  readonly collectionIds: readonly string[];
}

export interface AnswerDeps {
  readonly chunks: Pick<ChunkRepository, 'fetch' | 'describeNeighbours'>;
  readonly findDistinct: FindDistinct<StoredChunk>;
  /** Without it, nothing is reranked. */
  readonly reranking?: RerankDeps | undefined;
  /** Returns what a collection sets for questions that do not say otherwise. */
  readonly findDefaults: (collectionId: string) => Promise<RetrievalDefaults>;
}

export type AnswerQuestion = (of: AskedCollections, body: ChunkQuestion, signal?: AbortSignal) => Promise<ChunkAnswer>;

const never = new AbortController().signal;

/** The maximum number of times that a question ranks again because chunks were replaced before they were read. */
export const mostAgain = 3;

interface Found extends Pick<DistinctAnswer<StoredChunk>, 'rankings' | 'isOutdated'> {
  readonly hits: ReadonlyArray<RerankedHit<StoredChunk>>;
  readonly reranking: Reranking;
}

/** Returns the function that answers a question with one page of the chunks that match best. */
export function createAnswerQuestion(deps: AnswerDeps): AnswerQuestion {
  return async (of, body, signal) => {
    if (body.filters !== undefined) checkFilter(body.filters, 'body/filters');
    checkCursorForm(body.after, 'chunk', 'body/after');
    const malformed = of.collectionIds.find((id) => !isId(id));
    if (malformed !== undefined) throw collectionNotFound(malformed);
    const asked = { ...of, collectionIds: [...new Set(of.collectionIds)] };
    const words = toAskedWords(body.query_text, (await measureText(body.query_text, () => 0)).words);
    const { found, page, shown } = await findPage(deps, { asked, body, words, signal });
    const items = body.explain === true ? await explainAll(shown, words.folded) : shown.map(({ item }) => item);
    const { hits, rankings, reranking } = found;
    const scores = hits.map(({ hit }) => hit.score);
    const { score_threshold: threshold } = body;
    const texts = shown.map(({ item }) => item.content);
    const isByWords = rankings.every(({ ranking }) => ranking === 'words');
    const hasGoodMatch =
      threshold === undefined
        ? isGoodMatch({ text: body.query_text, folded: words.folded, scores, texts, isByWords })
        : scores.some((score) => score >= threshold);
    return { items, hasMore: page.hasMore, rankings, reranking, hasGoodMatch, warnings: describeEmpty(body, page) };
  };
}

function describeEmpty({ max_tokens: most }: ChunkQuestion, { shortest }: Pick<SelectedHits<unknown>, 'shortest'>) {
  if (most === undefined || shortest === undefined) return [];
  return [`Every chunk that matches has more than ${most} tokens. The shortest has ${shortest}: raise max_tokens.`];
}

/** Finds the page of an answer. Repeats the search, at most `mostAgain` times, if its chunks were replaced before they were read. */
async function findPage(deps: AnswerDeps, options: FindOptions) {
  const { asked, body } = options;
  for (let again = 0; ; again += 1) {
    const found = await find(deps, options);
    const page = selectHits(found.hits, {
      after: body.after,
      threshold: body.score_threshold ?? 0,
      maxItems: body.top_k ?? defaultResults,
      maxTokens: body.max_tokens ?? Number.POSITIVE_INFINITY,
    });
    if (page === undefined) throw chunkNotFound(body.after ?? '');
    const shown = await readPage(deps, { asked, page, distance: body.expand ?? 0 });
    const isCurrent = !found.isOutdated && shown.length === page.hits.length;
    if (isCurrent || again === mostAgain) return { found, page, shown };
  }
}

interface FindOptions {
  readonly asked: AskedCollections;
  readonly body: ChunkQuestion;
  readonly words: AskedWords;
  readonly signal: AbortSignal | undefined;
}

/** Ranks the chunks, and lets the service sort the best of them if the question asks for it. */
async function find(deps: AnswerDeps, { asked, body, words, signal }: FindOptions): Promise<Found> {
  const { chunks, findDistinct, reranking: service } = deps;
  const isWanted = body.rerank ?? (service !== undefined && (await reranksByDefault(deps, asked)));
  const question = {
    ...asked,
    text: body.query_text,
    ...words,
    filter: body.filters,
    signal,
    retrieval: readRetrieval(body),
    results: body.top_k ?? defaultResults,
    maxTokens: body.max_tokens ?? Number.POSITIVE_INFINITY,
    // The service sorts more chunks than a page has.
    isFirstPage: body.after === undefined && (service === undefined || !isWanted),
  };
  const found = await findDistinct(question).catch((error: unknown) => {
    throw error instanceof CollectionMissing ? collectionNotFound(error.collectionId ?? '') : error;
  });
  if (!isWanted) return { ...found, reranking: 'off' };
  if (service === undefined) return { ...found, reranking: 'not_configured' };
  const readTexts = async (seqs: readonly number[]) =>
    new Map([...(await chunks.fetch(asked.collectionIds, seqs))].map(([seq, { content }]) => [seq, content]));
  const reranked = await rerankHits(service, {
    text: body.query_text,
    hits: found.hits,
    readTexts,
    signal: signal ?? never,
  });
  return { ...found, hits: reranked.hits, reranking: reranked.outcome };
}

/** With more than one collection, the question decides alone. */
async function reranksByDefault({ findDefaults }: AnswerDeps, { collectionIds: [first, ...others] }: AskedCollections) {
  return first !== undefined && others.length === 0 && (await findDefaults(first)).rerank === true;
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

interface ShownChunk {
  readonly hit: Hit<StoredChunk>;
  readonly item: ScoredChunk;
}

interface PageOptions {
  readonly asked: AskedCollections;
  readonly page: SelectedHits<RerankedHit<StoredChunk>>;
  /** Neighbours in each direction. */
  readonly distance: number;
}

/** Reads the chunks of a page and their neighbours. Chunks that were deleted in between are left out. */
async function readPage(
  { chunks }: AnswerDeps,
  { asked, page: { hits, left }, distance }: PageOptions,
): Promise<ShownChunk[]> {
  const seqs = hits.map(({ hit }) => hit.seq);
  const near =
    distance === 0 ? undefined : selectNeighbours(seqs, await chunks.describeNeighbours(seqs, distance), left);
  const around = [...(near?.values() ?? [])].flatMap(({ before, after }) => [...before, ...after]);
  const known = hits.flatMap(({ hit: { seq, chunk } }) => (chunk === undefined ? [] : [[seq, chunk] as const]));
  const all = new Map(known);
  const missing = new Set([...seqs, ...around].filter((seq) => !all.has(seq)));
  for (const [seq, chunk] of await chunks.fetch(asked.collectionIds, [...missing])) all.set(seq, chunk);
  const readItems = (some: readonly number[]) =>
    some.flatMap((seq) => {
      const chunk = all.get(seq);
      return chunk === undefined ? [] : [toChunkItem(chunk)];
    });
  return hits.flatMap(({ hit, equals, relevance }) => {
    const [item] = readItems([hit.seq]);
    if (item === undefined) return [];
    const more = {
      ...(relevance === undefined ? {} : { rerank_score: relevance }),
      ...nameNeighbours(near?.get(hit.seq), readItems),
      ...nameEqual(equals),
    };
    return [{ hit, item: { ...item, score: hit.score, ...more } }];
  });
}

function nameNeighbours<Item>(near: SelectedNeighbours | undefined, readItems: (seqs: readonly number[]) => Item[]) {
  if (near === undefined) return {};
  const { before, after, omitted } = near;
  return { neighbours: { before: readItems(before), after: readItems(after), omitted } };
}

function nameEqual(equals: readonly DescribedChunk[]): Pick<ScoredChunk, 'equal_chunks'> {
  if (equals.length === 0) return {};
  const chunks = equals.slice(0, mostEqualChunks).map(({ id, recordId, collectionId }) => ({
    chunk_id: id,
    record_id: recordId,
    collection_id: collectionId,
  }));
  return { equal_chunks: { count: equals.length, chunks } };
}

/** Describes a chunk whose texts are known. */
export function describeChunk(chunk: StoredChunk): DescribedChunk {
  const { id, collectionId, recordId, numTokens, content, question, answer } = chunk;
  const text = question === null ? content : JSON.stringify([content, question, answer]);
  // A short answer never reaches the limit.
  return { id, collectionId, recordId, numTokens, weight: 0, text };
}

/** Other requests run between two texts. */
async function explainAll(shown: readonly ShownChunk[], folded: readonly string[]): Promise<ScoredChunk[]> {
  const explained: ScoredChunk[] = [];
  for (const { hit, item } of shown) {
    await setImmediate();
    explained.push({ ...item, explanation: await explainHit(hit, item.content, folded) });
  }
  return explained;
}

async function explainHit({ words, vector }: Hit<StoredChunk>, content: string, folded: readonly string[]) {
  const has = words === null ? null : (await measureText(content, () => 0)).words;
  const matched = has === null ? [] : matchWords(folded, has);
  return { words: words && { ...words, matched }, vector };
}

interface SelectedNeighbours {
  /** In the order of the record. */
  readonly before: readonly number[];
  readonly after: readonly number[];
  readonly omitted: number;
}

/**
 * Selects the neighbours of results that fit: the nearest of each result first, in the order of the results. Those of one result
 * have no gap, so one that does not fit also excludes the ones behind it.
 * @param seqs the results, best first
 */
function selectNeighbours(
  seqs: readonly number[],
  neighbours: readonly Neighbour[],
  left: SelectedHits<unknown>['left'],
): ReadonlyMap<number, SelectedNeighbours> {
  const places = new Map(seqs.map((seq, place) => [seq, place]));
  const placeOf = ({ of }: Neighbour) => places.get(of) ?? 0;
  const nearestFirst = neighbours.toSorted(
    (a, b) => Math.abs(a.offset) - Math.abs(b.offset) || placeOf(a) - placeOf(b) || a.offset - b.offset,
  );
  const selected = new Map(seqs.map((seq) => [seq, { before: [] as number[], after: [] as number[], omitted: 0 }]));
  const ended = new Set<string>();
  let { tokens, weight } = left;
  for (const { of, seq, offset, ...size } of nearestFirst) {
    const group = selected.get(of);
    if (group === undefined) continue;
    const direction = `${of} ${Math.sign(offset)}`;
    if (ended.has(direction) || size.numTokens > tokens || size.weight > weight) {
      ended.add(direction);
      group.omitted += 1;
      continue;
    }
    tokens -= size.numTokens;
    weight -= size.weight;
    if (offset < 0) group.before.unshift(seq);
    else group.after.push(seq);
  }
  return selected;
}
