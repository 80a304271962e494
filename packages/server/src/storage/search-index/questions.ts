import { analyseQuestion, takeWords } from '../../stores/search/analysis/question-terms.ts';
import type { ChunkFilter, RankedChunk } from '../../stores/search/chunk-index.ts';
import { scoreUnits, toMatch, weighTerms } from '../../stores/search/query/bm25.ts';
import {
  allowRecords,
  listFiles,
  mostAllowedRecords,
  mostRecordsOfFiles,
  type RecordOfFile,
  type Restriction,
  toRestriction,
} from '../../stores/search/restriction.ts';
import type { Statistics } from '../../stores/search/search-index.ts';
import {
  type CollectionIndex,
  createCollectionIndexes,
  type SegmentStore,
} from '../../stores/search/segments/collection-index.ts';
import { rankSegments } from '../../stores/search/segments/rank-segments.ts';
import { PageMissing } from '../../stores/search/segments/segment-format.ts';
import type { ScoreFormula } from '../../stores/search/segments/term-scorer.ts';
import { answerColumns } from '../database/chunk-columns.ts';
import { packAnswer } from './answer-rows.ts';
import { divideCache } from './index-caches.ts';
import { pagesPerSegment } from './segment-pages.ts';
import type { ThreadStatements, ThreadValue } from './thread-statements.ts';

/** A question as its thread receives it. */
export interface SegmentQuestion {
  readonly collectionId: string;
  /** The project that must own the collection; null when it is not checked. */
  readonly projectId: string | null;
  /** Distinct and normalised. */
  readonly words: readonly string[];
  /** The folded words, normalised; null when the index has the words as they are. */
  readonly folded: readonly string[] | null;
  /** The term of pairs with this question, which come before all other chunks, or null. */
  readonly exact: string | null;
  readonly limit: number;
  readonly withChunks: boolean;
  /** An SQL condition on the rows `chunk` and `record`, or null. */
  readonly condition: { readonly sql: string; readonly parameters: readonly ThreadValue[] } | null;
  /** The filter that the condition expresses, or null. */
  readonly filter: ChunkFilter | null;
  /** Shared memory in which the caller writes 1 when the question has ended. */
  readonly ended?: Int32Array;
}

export type SegmentAnswer =
  | { readonly kind: 'ranked'; readonly chunks: readonly RankedChunk[] }
  /** The chunks as `packAnswer` packs them. */
  | { readonly kind: 'found'; readonly packed: string }
  /** The project has no such collection. */
  | { readonly kind: 'no_collection' };

/**
 * Length of the first ranking of a question with a condition that does not restrict the chunks to rank. Most chunks may fail it, and one long ranking costs less
 * than several short ones.
 */
const firstRankingWithCondition = 2000;
/** A ranking with too few visible chunks is computed again, this many times as long. */
const growth = 8;
/** The maximum number of chunks whose visibility one statement checks. */
const chunksPerStatement = 1000;

/** Answers questions in the thread of a read connection. */
export interface Questions {
  ask(question: SegmentQuestion): SegmentAnswer;
  /** Counts the live chunks and their words. */
  count(collectionId: string): Statistics;
}

/** @param cacheBytes the bytes that the caches of the thread hold at most */
export function createQuestions(statements: ThreadStatements, cacheBytes?: number): Questions {
  const open = createCollectionIndexes(createStore(statements), divideCache(cacheBytes));
  return {
    count(collectionId) {
      const { chunks, words } = open(collectionId);
      return { chunks, words };
    },
    ask(question) {
      const checkpoint = createCheckpoint(question.ended);
      checkpoint();
      const { collectionId, projectId, words, folded, exact } = question;
      if (projectId !== null && !hasCollection(statements, projectId, collectionId)) return { kind: 'no_collection' };
      if (words.length === 0 && exact === null) return { kind: 'ranked', chunks: [] };
      const restriction = question.filter && restrictQuestion(statements, collectionId, question.filter);
      const rank = createRanking(open(collectionId), { words, folded, exact, restriction, checkpoint });
      const rows: ThreadValue[][] = [];
      const chunks = findVisibleMatches(rank, { statements, checkpoint, ...question, restriction, rows });
      return question.withChunks ? { kind: 'found', packed: packAnswer(chunks, rows) } : { kind: 'ranked', chunks };
    },
  };
}

/** The deadline of a question has passed, or its client has disconnected. Its answer is not needed. */
class QuestionEnded extends Error {
  override readonly name = 'QuestionEnded';
  constructor() {
    super('the question has ended');
  }
}

/** Returns a function that throws once the question has ended. */
export function createCheckpoint(ended: Int32Array | undefined): () => void {
  return () => {
    if (ended !== undefined && Atomics.load(ended, 0) !== 0) throw new QuestionEnded();
  };
}

/** A chunk with the same question scores more than all words together can. */
const exactFormula: ScoreFormula = { weight: scoreUnits, base: 0, perWord: 0 };

export interface RankingOptions extends Pick<SegmentQuestion, 'words' | 'folded' | 'exact'> {
  readonly restriction: Restriction | null;
  readonly checkpoint: () => void;
}

/** Computes the weights of the words once and returns a function that ranks the best chunks. */
export function createRanking(
  index: CollectionIndex,
  { words, folded, exact, restriction, checkpoint }: RankingOptions,
): (count: number) => RankedChunk[] {
  const analysed = folded === null ? takeWords(words) : analyseQuestion(folded, index.languages());
  const terms = [...new Set(analysed.flatMap(({ terms, loose }) => [...terms, ...loose]))];
  const { counts, segments } = index.find(exact === null ? terms : [...terms, exact], {
    restriction,
    checkpoint,
  });
  const found = new Map(terms.map((term, place) => [term, counts[place] as number]));
  const query = weighTerms(analysed, (term) => found.get(term) ?? 0, index);
  const { base, perWord } = query;
  const weights = new Map(query.words.map(({ word, weight, floor }) => [word, { weight, floor }]));
  // A term without a weight is in no chunk, so its lists are not read.
  const ofWords = terms.map((term) => ({ weight: 0, ...weights.get(term), base, perWord }));
  const formulas = exact === null ? ofWords : [...ofWords, exactFormula];
  return (count) => rankSegments(segments, { formulas, checkpoint, count }).map(toMatch);
}

function createStore(statements: ThreadStatements): SegmentStore {
  return {
    list: (collectionId) =>
      statements
        .all<{ id: number }>(
          "select id from index_segment where collection_id = ? and state = 'live' order by position",
          collectionId,
        )
        .map(({ id }) => id),
    readHeader: (segment) =>
      readBytes(statements.all<StoredBytes>('select header as bytes from index_segment where id = ?', segment)),
    readPage: (segment, page) =>
      readBytes(
        statements.all<StoredBytes>(
          'select data as bytes from index_page where id = ?',
          segment * pagesPerSegment + page,
        ),
      ),
  };
}

interface StoredBytes {
  readonly bytes: Uint8Array;
}

/** The rows of live segments and their pages exist in every transaction that lists them. */
function readBytes([row]: readonly StoredBytes[]): Uint8Array {
  if (row === undefined) throw new PageMissing();
  return row.bytes;
}

function hasCollection(statements: ThreadStatements, projectId: string, collectionId: string): boolean {
  const sql = "select 1 from collection where id = ? and project_id = ? and status = 'ready'";
  return statements.all(sql, collectionId, projectId).length > 0;
}

interface RankingContext extends Pick<SegmentQuestion, 'limit' | 'withChunks' | 'condition'> {
  readonly statements: ThreadStatements;
  readonly checkpoint: () => void;
  readonly restriction: Restriction | null;
  /** Receives the values of the columns of each match. */
  readonly rows: ThreadValue[][];
}

/** Returns the first `limit` visible chunks of a ranking that meet the condition. */
function findVisibleMatches(rank: (count: number) => RankedChunk[], context: RankingContext): RankedChunk[] {
  const { checkpoint, limit, condition, restriction, rows } = context;
  const matches: RankedChunk[] = [];
  let seen = 0;
  const first = condition === null || restriction !== null ? 2 * limit + 5 : firstRankingWithCondition;
  for (let count = first; ; count *= growth) {
    const ranked = rank(count);
    for (; seen < ranked.length && matches.length < limit; seen += chunksPerStatement) {
      checkpoint();
      const piece = ranked.slice(seen, seen + chunksPerStatement);
      const found = readVisible(piece, context, limit - matches.length);
      const visible = new Set(found.map(([seq]) => seq));
      matches.push(...piece.filter(({ seq }) => visible.has(seq)));
      rows.push(...found);
    }
    if (matches.length >= limit || ranked.length < count) return matches;
    seen = ranked.length;
  }
}

/**
 * Reads the first `most` visible chunks that meet the condition. A cross join reads the chunks in the order of the list,
 * so that SQLite stops after them. The sum prevents that SQLite prepares the statement again for each other limit, which
 * takes longer than to run it.
 */
function readVisible(
  ranked: readonly RankedChunk[],
  { statements, withChunks, condition }: RankingContext,
  most: number,
): ThreadValue[][] {
  return statements.lists(
    `select ${withChunks ? answerColumns : 'chunk.seq'} from json_each(?) as wanted
      cross join chunk on chunk.seq = wanted.value left join record on record.id = chunk.record_id
      where (chunk.record_id is null or (chunk.generation = record.generation and record.status <> 'deleting'))
      ${condition === null ? '' : `and ${condition.sql}`} limit ? + 0`,
    JSON.stringify(ranked.map(({ seq }) => seq)),
    ...(condition?.parameters ?? []),
    most,
  );
}

/** Returns the chunks that may meet a filter; null when all may. */
function restrictQuestion(statements: ThreadStatements, collectionId: string, filter: ChunkFilter): Restriction | null {
  const files = listFiles(filter);
  const restriction = toRestriction(filter, files && findRecordsOfFiles(statements, collectionId, files));
  return restriction && allowChanged(statements, collectionId, restriction);
}

/** Without the plus sign, SQLite may read all records of the collection. */
function findRecordsOfFiles(statements: ThreadStatements, collectionId: string, files: readonly string[]) {
  if (files.length === 0) return [];
  const rows = statements.all<RecordOfFile>(
    `select record.id as recordId, record.file_id as fileId from json_each(?) as file
      cross join record on record.file_id = file.value where +record.collection_id = ? limit ?`,
    ...[JSON.stringify(files), collectionId, mostRecordsOfFiles + 1],
  );
  return rows.length > mostRecordsOfFiles ? null : rows;
}

/** The entries of records that have changed since may differ from the terms of their chunks. */
function allowChanged(statements: ThreadStatements, collectionId: string, restriction: Restriction) {
  const rows = statements.all<{ id: string }>(
    'select id from record where collection_id = ? and metadata_changed > 0 limit ?',
    ...[collectionId, mostAllowedRecords + 1],
  );
  return allowRecords(
    restriction,
    rows.map(({ id }) => id),
  );
}
