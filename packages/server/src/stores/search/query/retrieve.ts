import type { Ranking, RetrievalDefaults, WordsReason } from '@quartermaster/contract';
import type { ProjectOwner } from '../../../platform/admission/owner.ts';
import type { CommonDeps } from '../../../platform/common-deps.ts';
import type { ChunkIndex, ChunkSearch } from '../chunk-index.ts';
import { EmbedderUnavailable } from '../embedding/embedder.ts';
import type { Embedders } from '../embedding/embedders.ts';
import type { VectorIndex } from '../embedding/vector-index.ts';
import type { SimilarityScaleRepository } from '../similarity-scale-repository.ts';
import type { VectorComparison, VectorRepository } from '../vector-repository.ts';
import type { ComparedChunks } from './compare-candidates.ts';
import { fuse, type Hit, type Near, rankByVectors, rankByWords, type VectorRanking } from './fuse.ts';
import { createQuestionVectors } from './question-vectors.ts';
import type { ScheduleRanking } from './schedule-rankings.ts';
import { createSimilarityScales } from './similarity-scales.ts';

export interface Question extends ChunkSearch, ProjectOwner {
  readonly projectId: string;
  readonly text: string;
  /** The chunks to rank instead of `limit` if words alone answer, and to return with their texts. */
  readonly enough?: number | undefined;
  /** What the question sets itself. Default: what the collection sets. */
  readonly retrieval?: RetrievalDefaults | undefined;
}

export interface VectorSearchDeps extends Pick<CommonDeps, 'admission' | 'clock' | 'logger'> {
  readonly embedders: Embedders;
  readonly vectors: VectorRepository;
  readonly scales: SimilarityScaleRepository;
  readonly index: VectorIndex;
  /** Returns what the collection sets for questions that do not say otherwise. */
  readonly findDefaults: (collectionId: string) => Promise<RetrievalDefaults>;
  /** False until the collections without all their vectors are known. */
  readonly isReady: () => boolean;
}

export interface RankedAnswer<Stored> {
  /** Best first. */
  readonly hits: Array<Hit<Stored>>;
  readonly ranking: Ranking;
  /** Why words alone answered; otherwise null. */
  readonly reason: WordsReason | null;
  /** The number of hits that the ranking was limited to. */
  readonly limit: number;
}

/**
 * Ranks the chunks of a collection. Words alone answer without an embedder, while it fails, and while the vectors do not
 * make the answer better.
 * @throws CollectionMissing when the project has no such collection
 */
export type Retrieve<Stored> = (question: Question) => Promise<RankedAnswer<Stored>>;

export function createRetrieve<Stored>(
  chunks: ChunkIndex<Stored>,
  deps: VectorSearchDeps | null,
  scheduleRanking: ScheduleRanking,
): Retrieve<Stored> {
  async function byWords(question: Question, reason: WordsReason): Promise<RankedAnswer<Stored>> {
    const { text: _, retrieval: __, enough, keyId: ___, ...search } = question;
    const limit = enough ?? question.limit;
    const found = await scheduleRanking(question, () =>
      chunks.rank({ ...search, limit, withChunks: enough !== undefined }),
    );
    return { hits: rankByWords(found), ranking: 'words', reason, limit };
  }
  if (deps === null) {
    return (question) => byWords(question, question.retrieval?.mode === 'words' ? 'requested' : 'no_embedder');
  }
  const byVectors = createVectorSearch(deps, scheduleRanking);
  return async (question) => {
    const { text: _, retrieval, enough: __, keyId: ___, ...search } = question;
    const {
      mode = 'fused',
      weights,
      min_similarity,
    } = { ...(await deps.findDefaults(question.collectionId)), ...retrieval };
    if (mode === 'words') return byWords(question, 'requested');
    const { limit } = question;
    // The words come first, because they tell whether the project has the collection.
    const words = await scheduleRanking(question, () => chunks.rank(search));
    const alsoCompared = words.map(({ seq }) => seq);
    const vectors = await byVectors(question, { limit, alsoCompared, minSimilarity: min_similarity ?? -1 });
    const answer = (hits: readonly Hit[], ranking: Ranking, reason: WordsReason | null) => ({
      hits: hits.slice(0, limit) as Array<Hit<Stored>>, // without chunks
      ranking,
      reason,
      limit,
    });
    if (typeof vectors === 'string') return answer(rankByWords(words), 'words', vectors);
    if (mode === 'vectors') return answer(rankByVectors(vectors), 'vectors', null);
    return answer(fuse(words, vectors, weights ?? { words: 1, vectors: vectors.scale.weight }), 'fused', null);
  };
}

interface VectorSearchOptions {
  readonly limit: number;
  /** The chunks whose similarities are needed even if they are not among the nearest. */
  readonly alsoCompared: readonly number[];
  readonly minSimilarity: number;
}

function createVectorSearch(deps: VectorSearchDeps, scheduleRanking: ScheduleRanking) {
  const { embedders, vectors, index, logger } = deps;
  const questionsOf = new Map(embedders.all.map((each) => [each.model, createQuestionVectors(each, deps.clock)]));
  const scales = createSimilarityScales({ scales: deps.scales, logger, admission: deps.admission });

  async function search(question: Question, options: VectorSearchOptions): Promise<VectorRanking | WordsReason> {
    const space = await vectors.find(question.collectionId);
    if (space === undefined || space.dimensions === 0) return 'collection_not_embedded';
    const questions = questionsOf.get(space.model);
    if (questions === undefined) return 'other_model';
    // Until the service has looked for missing vectors, the collection may lack some.
    const needsBackfill = space.needsBackfill || !deps.isReady();
    const scale = await scales.find({ ...space, needsBackfill }, (text) => questions.find(text, question), question);
    if (typeof scale === 'string') return scale;
    const query = await questions.find(question.text, question);
    if (query.length !== space.dimensions) return 'other_dimensions';
    const { limit, alsoCompared } = options;
    const asked = { space, query, limit, filter: question.filter, others: alsoCompared };
    // Other questions are ranked meanwhile.
    const isLoaded = await index.load(space);
    const found = isLoaded
      ? await scheduleRanking(question, () => findNearestChunks({ vectors, index }, asked))
      : undefined;
    if (found === undefined) {
      logger.warn({ collection_id: question.collectionId }, 'query answered without vectors, they are not in memory');
      return 'index_not_built';
    }
    const isSimilar = ({ similarity }: Near) => similarity >= options.minSimilarity;
    const nearest = found.nearest.filter(isSimilar);
    const all = [...nearest, ...found.others.filter(isSimilar)];
    return { nearest, similarities: new Map(all.map(({ seq, similarity }) => [seq, similarity])), scale };
  }

  /** Returns the reason when there is no vector ranking. */
  return async (question: Question, options: VectorSearchOptions): Promise<VectorRanking | WordsReason> => {
    try {
      return await search(question, options);
    } catch (error) {
      if (!(error instanceof EmbedderUnavailable)) throw error;
      logger.warn({ reason: error.message }, 'query answered without vectors');
      return 'provider_unavailable';
    }
  };
}

interface NearestChunksDeps {
  readonly vectors: Pick<VectorRepository, 'compare'>;
  readonly index: VectorIndex;
}

/** If too few candidates are visible, the question asks the index for this many times as many. */
const growth = 8;

/**
 * Finds the visible chunks whose vectors are nearest to the query, and compares the others. The first answer of the index is
 * enough for most questions. A longer one contains its candidates, which are then compared again.
 * @returns undefined when the vectors are not in memory
 */
export async function findNearestChunks(
  { vectors, index }: NearestChunksDeps,
  of: Omit<VectorComparison, 'near'>,
): Promise<ComparedChunks | undefined> {
  for (let count = of.limit; ; count *= growth) {
    const near = await index.nearest(of.space, of.query, count);
    const compared = near && (await vectors.compare({ ...of, near }));
    if (compared === undefined || compared.isComplete) return compared;
  }
}
