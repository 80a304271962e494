import type { Ranking, WordsReason } from '@quartermaster/contract';
import { mapWithConcurrency } from '../../../platform/concurrency/map-with-concurrency.ts';
import { type ChunkIndex, CollectionMissing, type DescribedChunk } from '../chunk-index.ts';
import type { Hit } from './fuse.ts';
import type { Question, Retrieve } from './retrieve.ts';

/** A result, and the other ranked chunks with the same text. */
export interface DistinctHit<Stored> {
  readonly hit: Hit<Stored>;
  readonly described: DescribedChunk;
  /** Best first. */
  readonly equals: readonly DescribedChunk[];
}

export interface DistinctQuestion extends Omit<Question, 'collectionId' | 'limit' | 'enough'> {
  /** At least one. */
  readonly collectionIds: readonly string[];
  /** The number of results that the caller needs. */
  readonly results: number;
  /** The tokens of all results together. */
  readonly maxTokens: number;
  /** Whether the caller needs the best results and not those after them. */
  readonly isFirstPage: boolean;
}

export interface DistinctAnswer<Stored> {
  /** Best first, each text once. */
  readonly hits: ReadonlyArray<DistinctHit<Stored>>;
  /** How each collection was ranked, in the order of the question. */
  readonly rankings: readonly RankedCollection[];
  /** Whether ranked chunks were gone before their texts were read. Others may have replaced them, so the caller asks again. */
  readonly isOutdated: boolean;
}

export interface RankedCollection {
  readonly collectionId: string;
  readonly ranking: Ranking;
  /** Why words alone answered; otherwise null. */
  readonly reason: WordsReason | null;
}

export type FindDistinct<Stored> = (question: DistinctQuestion) => Promise<DistinctAnswer<Stored>>;

export interface DistinctDeps<Stored> {
  readonly chunks: Pick<ChunkIndex<Stored>, 'describe'>;
  readonly retrieve: Retrieve<Stored>;
  /** Describes a chunk that the ranking returned. */
  readonly describe: (chunk: Stored) => DescribedChunk;
}

/** The chunks that a question ranks. All pages of an answer come from them, so that a page does not change the order. */
export const ranked = { least: 50, perResult: 5, most: 1_000 } as const;

/** Collections of one question that are ranked at the same time. */
const concurrency = 4;

/** Longer answers read the texts of their own chunks only. */
const mostWithTexts = 20;

/**
 * Ranks chunks and groups those with the same text. A question ranks a few times as many chunks as it has results, and
 * 1,000 when equal texts leave too few; its collections share these 1,000. If words alone answer a short question, it first
 * ranks only one more than it needs. Chunks of different collections are sorted by their scores.
 */
export function createFindDistinct<Stored>({ chunks, retrieve, describe }: DistinctDeps<Stored>): FindDistinct<Stored> {
  async function describeAll(hits: ReadonlyArray<Hit<Stored>>): Promise<ReadonlyMap<number, DescribedChunk>> {
    const known = hits.flatMap(({ seq, chunk }) => (chunk === undefined ? [] : [[seq, describe(chunk)] as const]));
    if (known.length === hits.length) return new Map(known);
    return chunks.describe(hits.map(({ seq }) => seq));
  }
  async function rank(question: Omit<Question, 'collectionId'>, collectionIds: readonly string[]) {
    const answers = await mapWithConcurrency(collectionIds, concurrency, async (collectionId) => {
      const answer = await retrieve({ ...question, collectionId }).catch((error: unknown) => {
        throw error instanceof CollectionMissing ? new CollectionMissing(collectionId) : error;
      });
      return { collectionId, ...answer };
    });
    const [first, ...others] = answers;
    if (first === undefined || others.length === 0) return { answers, hits: first?.hits ?? [] };
    // Sorting is stable: equal scores have the order of the collections.
    return { answers, hits: answers.flatMap(({ hits }) => hits).sort((a, b) => b.score - a.score) };
  }
  return async ({ results, maxTokens, isFirstPage, collectionIds, ...question }) => {
    const most = Math.floor(ranked.most / collectionIds.length);
    const pool = Math.min(most, Math.max(ranked.least, ranked.perResult * results));
    const isShort = isFirstPage && results * collectionIds.length <= mostWithTexts;
    const enough = isShort ? results + 1 : undefined;
    for (let options: { limit: number; enough?: number | undefined } = { limit: pool, enough }; ; ) {
      const { answers, hits: all } = await rank({ ...question, ...options }, collectionIds);
      const descriptions = await describeAll(all);
      const isOutdated = descriptions.size < all.length;
      const hits = groupEqual(all, descriptions);
      const limit = Math.min(...answers.map((each) => each.limit));
      const isWhole = limit >= most || answers.every((each) => each.hits.length < each.limit);
      const isEnough = limit >= pool || countTokens(hits.slice(0, results)) <= maxTokens;
      if (isOutdated || isWhole || (isEnough && hits.length > results)) {
        return { hits, rankings: answers.map(nameRanking), isOutdated };
      }
      options = { limit: limit < pool ? pool : most };
    }
  };
}

function nameRanking({ collectionId, ranking, reason }: RankedCollection): RankedCollection {
  return { collectionId, ranking, reason };
}

function countTokens(hits: ReadonlyArray<DistinctHit<unknown>>): number {
  return hits.reduce((sum, { described }) => sum + described.numTokens, 0);
}

function groupEqual<Stored>(
  hits: ReadonlyArray<Hit<Stored>>,
  descriptions: ReadonlyMap<number, DescribedChunk>,
): Array<DistinctHit<Stored>> {
  const groups = new Map<DescribedChunk['text'], DistinctHit<Stored> & { readonly equals: DescribedChunk[] }>();
  for (const hit of hits) {
    const described = descriptions.get(hit.seq);
    // The chunk was deleted in between.
    if (described === undefined) continue;
    const group = groups.get(described.text);
    if (group === undefined) groups.set(described.text, { hit, described, equals: [] });
    else group.equals.push(described);
  }
  return [...groups.values()];
}
