import {
  type ChunkQuery,
  type DifyRecords,
  type DifyRetrieval,
  defaultResults,
  type ScoredChunk,
} from '@quartermaster/contract';
import type { Owner } from '../../../platform/admission/owner.ts';
import { plainName } from '../../../platform/plain-name.ts';
import type { NamedRecord } from '../../../stores/collections/records/record-repository.ts';
import type { ChunkFilter } from '../../../stores/search/chunk-index.ts';
import { toFilter } from './to-filter.ts';

/** A query whose filter may have conditions on dates. */
type ChunkQuestion = Omit<ChunkQuery, 'filters'> & { readonly filters?: ChunkFilter };

/** The ports that the dialect translates to. */
export interface DifyKnowledge {
  readonly chunks: {
    query(
      of: Owner & { readonly collectionIds: readonly string[] },
      body: ChunkQuestion,
      signal?: AbortSignal,
    ): Promise<{ readonly items: readonly ScoredChunk[] }>;
  };
  readonly records: {
    name(projectId: string, recordIds: readonly string[]): Promise<ReadonlyMap<string, NamedRecord>>;
  };
}

/** The threshold that Dify proposes. The best chunk is never below it. */
const proposedThreshold = 0.5;

/**
 * Answers a question of Dify with the chunks of one collection.
 * @throws the errors of the query of chunks
 */
export async function retrieveForDify(
  { chunks, records }: DifyKnowledge,
  { projectId, keyId }: Owner,
  { knowledge_id: collectionId, query, retrieval_setting: setting, metadata_condition: condition }: DifyRetrieval,
  signal?: AbortSignal,
): Promise<DifyRecords> {
  const filters = toFilter(condition);
  const body = {
    query_text: query,
    top_k: setting?.top_k ?? defaultResults,
    ...(filters === undefined ? {} : { filters }),
  };
  const { items } = await chunks.query({ projectId, keyId, collectionIds: [collectionId] }, body, signal);
  const found = scaleScores(items).filter(({ score }) => score >= (setting?.score_threshold ?? 0));
  const recordIds = new Set(found.flatMap(({ record_id: id }) => id ?? []));
  const names = await records.name(projectId, [...recordIds]);
  return { records: found.map((chunk) => toDifyRecord(chunk, names.get(chunk.record_id ?? ''))) };
}

/**
 * Scales scores so that the best chunk has 0.5 to 1. A share of the words of a question is often below 0.5 for the right
 * chunk, and the threshold that Dify proposes would exclude it. The order stays.
 */
function scaleScores(chunks: readonly ScoredChunk[]): ScoredChunk[] {
  const best = Math.max(...chunks.map(({ score }) => score));
  const factor = best > 0 ? (proposedThreshold + best * (1 - proposedThreshold)) / best : 0;
  return chunks.map((chunk) => ({ ...chunk, score: Math.min(1, chunk.score * factor) }));
}

function toDifyRecord(chunk: ScoredChunk, record: NamedRecord | undefined): DifyRecords['records'][number] {
  const path = record?.fileName ?? record?.url;
  const { page, heading_path: headings } = chunk.locator ?? {};
  return {
    content: chunk.content,
    score: chunk.score,
    title: plainName(record?.title || path || ''),
    metadata: {
      ...chunk.metadata,
      ...(chunk.record_id === null ? {} : { document_id: chunk.record_id }),
      chunk_id: chunk.chunk_id,
      ...(path == null ? {} : { path }),
      ...(page === undefined ? {} : { page }),
      ...(headings === undefined ? {} : { heading: headings.join(' › ') }),
    },
  };
}
