import { maxResults, mostAskedCollections, mostEqualChunks, mostNeighbours } from '@quartermaster/contract';
import { queues } from '../kernel/admission/queues.ts';
import { ranked } from '../search/query/find-distinct.ts';
import { mostConcurrentRankings } from '../search/query/schedule-rankings.ts';
import { maxAnswerWeight } from '../search/query/select-hits.ts';
import { mostReranked } from '../search/reranking/rerank-hits.ts';
import { type Limit, refused } from './limit.ts';

const invalid = refused('REQUEST_VALIDATION_ERROR');

/** Limits of one question to collections and of its answer. */
export const questionLimits = {
  question_collections: {
    bounds: 'collections of one question',
    unit: 'items',
    value: () => mostAskedCollections,
    above: invalid,
  },
  question_results: {
    bounds: '`top_k` of a question',
    unit: 'items',
    value: () => maxResults,
    above: invalid,
  },
  question_bytes: {
    bounds: 'the chunks of one answer; a byte of metadata counts as four',
    unit: 'bytes',
    value: () => maxAnswerWeight,
    above: 'The answer has fewer chunks, and `has_more` is true. It has at least one.',
  },
  question_ranked: {
    bounds:
      'chunks that one question ranks for all its pages when many have the same text, and those of all its collections',
    unit: 'items',
    value: () => ranked.most,
    above: 'The last page has `has_more` false.',
  },
  question_neighbours: {
    bounds: '`expand` of a question',
    unit: 'items',
    value: () => mostNeighbours,
    above: invalid,
  },
  question_reranked: {
    bounds: 'chunks of one question that the reranking service sorts',
    unit: 'items',
    value: () => mostReranked,
    above: 'The others follow in the order of the search.',
  },
  concurrent_rankings: {
    bounds: 'collections that the questions of one process rank at the same time, once by words and once by vectors',
    unit: 'items',
    value: () => mostConcurrentRankings,
    above: 'The others wait, and are ranked in turn among projects and their keys.',
  },
  waiting_rankings: {
    bounds: 'collections of questions that wait to be ranked, in one process',
    unit: 'items',
    value: () => queues.rankings.waiting,
    above: refused('TOO_MANY_REQUESTS'),
  },
  question_equal_chunks: {
    bounds: 'chunks that `equal_chunks` of a result names',
    unit: 'items',
    value: () => mostEqualChunks,
    above: '`count` is their number.',
  },
} as const satisfies Record<string, Limit>;
