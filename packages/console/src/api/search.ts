import type { ChunkQuery, CollectionRankings, ScoredChunk } from '@quartermaster/contract';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { Static } from 'typebox';
import { filesApi } from './addresses.ts';

/** A question with its settings. */
export interface Question {
  readonly text: string;
  /** The asked collections: at least one. */
  readonly collections: readonly string[];
  readonly settings: Pick<ChunkQuery, 'top_k' | 'expand' | 'mode' | 'min_similarity' | 'score_threshold' | 'rerank'>;
}

/** How a collection was ranked. */
export type RankingOf = Static<typeof CollectionRankings>[number];

export interface AnswerPage {
  readonly data: readonly ScoredChunk[];
  readonly has_more: boolean;
  readonly good_match: boolean;
  readonly reranking: 'off' | 'applied' | 'unavailable' | 'not_configured';
  readonly rankings: readonly RankingOf[];
  readonly ms: number;
}

/** The pages of an answer. They are kept, so that the way back from a document shows them again. */
export function useAnswer(question: Question) {
  const { text, collections, settings } = question;
  return useInfiniteQuery({
    queryKey: ['search', collections, text, settings],
    queryFn: ({ pageParam, signal }) => ask(question, pageParam, signal),
    initialPageParam: undefined as string | undefined, // the first page follows no chunk
    getNextPageParam: (last: AnswerPage) => (last.has_more ? last.data.at(-1)?.chunk_id : undefined),
    enabled: text.trim() !== '',
    staleTime: Number.POSITIVE_INFINITY,
  });
}

async function ask({ text, collections, settings }: Question, after: string | undefined, signal: AbortSignal) {
  const started = performance.now();
  const body = { query_text: text, explain: true, ...settings, ...(after === undefined ? {} : { after }) };
  const [only = '', ...others] = collections;
  if (others.length > 0) {
    const found = await filesApi.json('POST /v1/chunks/query', {
      body: { ...body, collection_ids: [...collections] },
      signal,
    });
    return { ...found, ms: performance.now() - started };
  }
  const { ranking, ranking_reason, ...found } = await filesApi.json(
    'POST /v1/collections/{collection_id}/chunks/query',
    { path: { collection_id: only }, body, signal },
  );
  return { ...found, rankings: [{ collection_id: only, ranking, ranking_reason }], ms: performance.now() - started };
}
