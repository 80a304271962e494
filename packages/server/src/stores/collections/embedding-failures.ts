import type { Collection, EmbeddingFailure, ListQuery } from '@quartermaster/contract';
import { checkCursors } from '../../platform/list-cursors.ts';
import type { Page } from '../../platform/page.ts';
import type { FailedChunk } from '../search/vector-repository.ts';
import type { Collections } from './collections.ts';
import { chunkNotFound, noEmbeddingModel } from './problems.ts';

export interface EmbeddingFailureDeps {
  readonly collections: Pick<Collections, 'find' | 'get'>;
  /** Returns the failed texts of collections; null without an embedder. */
  readonly findVectors: () => {
    /** @returns undefined when a cursor is not in the list */
    list(collectionId: string, query: ListQuery): Promise<Page<FailedChunk> | undefined>;
    /** Makes the next attempt of all failed texts due now. */
    retry(collectionId: string): Promise<void>;
  } | null;
}

/**
 * The chunks whose text the embedder has failed to embed. A missing collection gives OBJECT_NOT_FOUND, and a service without
 * an embedding model NOT_CONFIGURED.
 */
export interface EmbeddingFailures {
  list(projectId: string, collectionId: string, query: ListQuery): Promise<Page<EmbeddingFailure>>;
  /** Sends all of them again in the background. */
  retry(projectId: string, collectionId: string): Promise<Collection>;
}

export function createEmbeddingFailures({ collections, findVectors }: EmbeddingFailureDeps): EmbeddingFailures {
  return {
    async list(projectId, collectionId, query) {
      await collections.find(projectId, collectionId);
      const vectors = findVectors();
      if (vectors === null) throw noEmbeddingModel();
      const page = await vectors.list(collectionId, checkCursors(query, 'chunk'));
      if (page === undefined) throw chunkNotFound(query.after ?? query.before ?? '');
      return { ...page, items: page.items.map(toItem) };
    },
    async retry(projectId, collectionId) {
      await collections.find(projectId, collectionId);
      const vectors = findVectors();
      if (vectors === null) throw noEmbeddingModel();
      await vectors.retry(collectionId);
      return collections.get(projectId, collectionId);
    },
  };
}

function toItem({ id, recordId, excerpt, reason, failures, retryAt }: FailedChunk): EmbeddingFailure {
  return {
    object: 'EmbeddingFailure',
    chunk_id: id,
    record_id: recordId,
    excerpt,
    reason,
    num_attempts: failures,
    next_attempt_timestamp: retryAt,
  };
}
