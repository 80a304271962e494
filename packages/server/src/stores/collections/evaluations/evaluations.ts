import { createHash } from 'node:crypto';
import type {
  EvaluatedQuestion,
  Evaluation,
  EvaluationCounts,
  EvaluationCreate,
  ReadSheet,
  ScoredChunk,
  SkippedRow,
} from '@quartermaster/contract';
import type { CommonDeps } from '../../../platform/common-deps.ts';
import { Problem } from '../../../platform/problem.ts';
import type { AnswerQuestion } from '../chunks/answer-question.ts';
import type { Collections } from '../collections.ts';
import type { DryRunPlace } from '../records/dry-runs.ts';
import { fitResult } from './fit-result.ts';

/** A question, and the name of a document or a text that must be found. */
export interface ExpectedAnswer {
  readonly row: number | null;
  readonly question: string;
  readonly expected: string;
}

export interface QuestionSheet {
  readonly questions: readonly ExpectedAnswer[];
  /** The number of rows without a question or an expected answer, and the first of them. */
  readonly numSkipped: number;
  readonly skipped: readonly SkippedRow[];
  /** The columns that were taken of the first sheets. */
  readonly sheets: readonly ReadSheet[];
}

/**
 * Reads the questions of a sheet.
 * @throws REQUEST_VALIDATION_ERROR when it cannot be read or has too many, OBJECT_NOT_FOUND when the file does not exist
 */
export type ReadQuestions = (
  place: DryRunPlace,
  sheet: EvaluationCreate,
  signal: AbortSignal,
) => Promise<QuestionSheet>;

/** The last evaluation of a collection. */
export interface StoredEvaluation {
  readonly collectionId: string;
  readonly createdAt: number;
  /** The place of the first right chunk of each question, by a digest of question and expected answer. */
  readonly ranks: ReadonlyArray<readonly [key: string, rank: number | null]>;
  /** The answer, with texts that `fitResult` may have cut; null for an evaluation of an earlier version. */
  readonly result: Evaluation | null;
}

/** `refused`: the caller, the sheet or the collection was at fault. */
export type EvaluationOutcome = 'completed' | 'refused' | 'cancelled' | 'failed';

/** Stores the last evaluation of each collection. A row is deleted with its collection. */
export interface EvaluationRepository {
  find(collectionId: string): Promise<StoredEvaluation | undefined>;
  /** Replaces the row of the collection. Does nothing when the collection is gone. */
  save(evaluation: StoredEvaluation): Promise<void>;
}

export interface EvaluationDeps extends Pick<CommonDeps, 'clock'> {
  readonly collections: Pick<Collections, 'find'>;
  readonly evaluations: EvaluationRepository;
  readonly readQuestions: ReadQuestions;
  readonly answerQuestion: AnswerQuestion;
  /** Counts evaluations. Default: they are not counted. */
  readonly onEnded?: ((outcome: EvaluationOutcome) => void) | undefined;
}

/** Measures at which places a collection finds known answers. */
export interface Evaluations {
  /** @throws the errors of reading the sheet and of chunk queries */
  run(place: DryRunPlace, sheet: EvaluationCreate, signal: AbortSignal): Promise<Evaluation>;
  /** Returns the last evaluation; none before the first. @throws OBJECT_NOT_FOUND when the collection does not exist */
  list(projectId: string, collectionId: string): Promise<readonly Evaluation[]>;
}

/** A right chunk after this place counts as not found. */
const depth = 10;
/** The answer shows this many characters of an expected text. */
const longestExcerpt = 500;

export function createEvaluations(deps: EvaluationDeps): Evaluations {
  const { collections, evaluations, onEnded = () => {} } = deps;
  return {
    async run(place, sheet, signal) {
      try {
        const result = await evaluate(deps, { place, sheet, signal });
        onEnded('completed');
        return result;
      } catch (error) {
        const isRefused = error instanceof Problem && error.status < 500;
        onEnded(signal.aborted ? 'cancelled' : isRefused ? 'refused' : 'failed');
        throw error;
      }
    },
    async list(projectId, collectionId) {
      await collections.find(projectId, collectionId);
      const last = await evaluations.find(collectionId);
      return last?.result == null ? [] : [last.result];
    },
  };
}

interface Asked {
  readonly place: DryRunPlace;
  readonly sheet: EvaluationCreate;
  readonly signal: AbortSignal;
}

async function evaluate(deps: EvaluationDeps, { place, sheet, signal }: Asked): Promise<Evaluation> {
  const { collections, evaluations, clock } = deps;
  const { projectId, keyId, collectionId } = place;
  await collections.find(projectId, collectionId);
  const asked = await deps.readQuestions(place, sheet, signal);
  const previous = await evaluations.find(collectionId);
  const before = new Map(previous?.ranks);
  const left = Map.groupBy(previous?.ranks ?? [], ([key]) => key); // a question may be there twice
  const questions: EvaluatedQuestion[] = [];
  const ranks: Array<readonly [string, number | null]> = [];
  // One question at a time, so that an evaluation waits for its turns like any caller.
  for (const { row, question, expected } of asked.questions) {
    const of = { projectId, keyId, collectionIds: [collectionId] };
    const { items } = await deps.answerQuestion(of, { query_text: question, top_k: depth }, signal);
    const rank = rankOf(items, expected);
    const key = keyOf(question, expected);
    const was = before.get(key);
    ranks.push([key, rank]);
    questions.push({
      row,
      question,
      expected: expected.slice(0, longestExcerpt),
      rank,
      best: items[0] === undefined ? null : nameOf(items[0]),
      ...(was === undefined ? {} : { previous_rank: was }),
    });
  }
  const createdAt = clock.now();
  const result: Evaluation = {
    object: 'Evaluation',
    collection_id: collectionId,
    created_timestamp: createdAt,
    ...countRanks(ranks),
    previous:
      previous === undefined
        ? null
        : {
            created_timestamp: previous.createdAt,
            ...countRanks(previous.ranks),
            num_same: ranks.filter(([key]) => left.get(key)?.pop() !== undefined).length,
          },
    questions,
    sheets: [...asked.sheets],
    num_skipped: asked.numSkipped,
    skipped: [...asked.skipped],
  };
  await evaluations.save({ collectionId, createdAt, ranks, result: fitResult(result) });
  return result;
}

function keyOf(question: string, expected: string): string {
  return createHash('sha256')
    .update(JSON.stringify([question, expected]))
    .digest('base64url')
    .slice(0, 16);
}

function countRanks(ranks: StoredEvaluation['ranks']): EvaluationCounts {
  const within = (most: number) => ranks.filter(([, rank]) => rank !== null && rank <= most).length;
  return {
    num_questions: ranks.length,
    num_first: within(1),
    num_within_three: within(3),
    num_within_ten: within(depth),
  };
}

function rankOf(items: readonly ScoredChunk[], expected: string): number | null {
  const wanted = normalise(expected);
  const place = items.findIndex(
    (item) => namesOf(item).some((name) => normalise(name) === wanted) || normalise(item.content).includes(wanted),
  );
  return place === -1 ? null : place + 1;
}

function namesOf({ record_id, title, file_name, url }: ScoredChunk): string[] {
  const names = [record_id, title, file_name, url].filter(
    (name) => typeof name === 'string' && name !== '',
  ) as string[];
  return file_name ? [...names, file_name.replace(/\.[^.]{1,8}$/, '')] : names;
}

function nameOf(item: ScoredChunk): string {
  return item.title || item.file_name || item.url || item.chunk_id;
}

function normalise(text: string): string {
  return text.normalize('NFKC').toLowerCase().split(/\s+/).join(' ').trim();
}
