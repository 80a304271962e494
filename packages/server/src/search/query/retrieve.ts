import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../kernel/log/logger.ts';
import type { ChunkFilter, ChunkIndex, ChunkSearch, FoundChunk } from '../chunk-index.ts';
import { type Embedder, EmbedderUnavailable } from '../embedding/embedder.ts';
import type { VectorIndex } from '../embedding/vector-index.ts';
import { similarity } from '../embedding/vectors.ts';
import type { VectorRepository } from '../vector-repository.ts';
import { fuse, type Hit } from './fuse.ts';
import { createQuestionVectors } from './question-vectors.ts';

export interface Question extends ChunkSearch {
  readonly projectId: string;
  readonly text: string;
}

export interface VectorSearchDeps {
  readonly embedder: Embedder;
  readonly vectors: VectorRepository;
  readonly index: VectorIndex;
  /** False until the collections without all their vectors are known. */
  readonly isReady: () => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Returns hits, best first. Only full-text search is used without an embedder, while it fails, and until every chunk
 * has its vector.
 * @throws CollectionMissing when the project has no such collection
 */
export type Retrieve<Stored> = (question: Question) => Promise<Array<Hit<Stored>>>;

/** The minimum number of ranks read from each ranking. It is twice the requested number if that is larger. */
const depth = 50;

export function createRetrieve<Stored>(chunks: ChunkIndex<Stored>, deps: VectorSearchDeps | null): Retrieve<Stored> {
  const byWords = ({ text: _, ...search }: Question): Promise<ReadonlyArray<FoundChunk<Stored>>> => chunks.rank(search);
  if (deps === null) {
    return async (question) => {
      const found = await byWords({ ...question, withChunks: true });
      return found.map((each, place) => ({ ...each, words: { rank: place + 1, score: each.score }, vector: null }));
    };
  }
  const byVectors = createVectorSearch(chunks, deps);
  return async (question) => {
    const limit = Math.max(depth, 2 * question.limit);
    // The words come first, because they tell whether the project has the collection.
    const words = await byWords({ ...question, limit });
    const vectors = await byVectors(question, limit);
    return fuse(words, vectors).slice(0, question.limit) as Array<Hit<Stored>>; // without chunks
  };
}

interface Near {
  readonly seq: number;
  readonly similarity: number;
}

/** The number of candidates, found by code, that are compared exactly for each result. */
const candidatesPerResult = 6;
const leastCandidates = 300;

function createVectorSearch(chunks: Pick<ChunkIndex<unknown>, 'findVisible'>, deps: VectorSearchDeps) {
  const { embedder, vectors, index, logger } = deps;
  const questions = createQuestionVectors(embedder, deps.clock);

  async function search(question: Question, limit: number): Promise<Near[] | null> {
    if (!deps.isReady()) return null;
    const space = await vectors.find(question.collectionId);
    if (space === undefined || space.model !== embedder.model || space.dimensions === 0) return null;
    // Otherwise the chunks that already have vectors would rank first.
    if (space.needsBackfill) return null;
    const query = await questions.find(question.text);
    if (query.length !== space.dimensions) return null;
    for (let count = Math.max(leastCandidates, candidatesPerResult * limit); ; count *= 8) {
      const candidates = await index.nearest(space, query, count);
      if (candidates === undefined) {
        logger.warn({ collection_id: question.collectionId }, 'vector memory limit reached');
        return null;
      }
      const visible = await findVisible(chunks, candidates, question.filter);
      if (visible.length < limit && candidates.length >= count) continue;
      return nearestOf(await vectors.vectors(space, visible.slice(0, count)), query).slice(0, limit);
    }
  }

  /** Null means that there is no vector ranking. */
  return async (question: Question, limit: number): Promise<Near[] | null> => {
    try {
      return await search(question, limit);
    } catch (error) {
      if (!(error instanceof EmbedderUnavailable)) throw error;
      logger.warn({ reason: error.message }, 'query answered without vectors');
      return null;
    }
  };
}

const maxVisible = 1000;

async function findVisible(
  chunks: Pick<ChunkIndex<unknown>, 'findVisible'>,
  seqs: readonly number[],
  filter: ChunkFilter | undefined,
): Promise<number[]> {
  const positions: number[] = [];
  for (let from = 0; from < seqs.length && positions.length < maxVisible; from += maxVisible) {
    const part = seqs.slice(from, from + maxVisible);
    const visible = await chunks.findVisible(part, filter);
    positions.push(...part.filter((seq) => visible.has(seq)));
  }
  return positions.slice(0, maxVisible);
}

function nearestOf(stored: ReadonlyMap<number, Float32Array>, query: Float32Array): Near[] {
  const near = [...stored].map(([seq, vector]) => ({ seq, similarity: similarity(query, vector) }));
  return near.sort((a, b) => b.similarity - a.similarity || a.seq - b.seq);
}
