import type { Ranking, WordsReason } from '@quartermaster/contract';
import type { Logger } from '../../../platform/log/logger.ts';
import { Counter, type Registry } from '../../../platform/metrics.ts';
import { Problem } from '../../../platform/problem.ts';
import { isPageMissing } from '../segments/segment-format.ts';

export interface QuestionLimits {
  /** Seconds after which a question ends without an answer. */
  readonly seconds: number;
  readonly logger: Logger;
  readonly metrics: QuestionMetrics;
}

interface LimitedQuestion {
  readonly collectionIds: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

interface NamedAnswer {
  readonly rankings: ReadonlyArray<{ readonly ranking: Ranking; readonly reason: WordsReason | null }>;
}

/** Counts questions by their end. */
export interface QuestionMetrics {
  answered(ranking: Ranking, reason: WordsReason | null): void;
  ended(reason: 'deadline' | 'client_gone'): void;
}

export function createQuestionMetrics(registry: Registry): QuestionMetrics {
  const ended = new Counter({
    name: 'quartermaster_questions_ended_total',
    help: 'Questions that ended without an answer: the deadline passed, or the client disconnected.',
    labelNames: ['reason'],
    registers: [registry],
  });
  const answered = new Counter({
    name: 'quartermaster_questions_answered_total',
    help: 'Answered questions, counted once for each of their collections, by the ranking that answered, and why words alone did; the reason is empty otherwise.',
    labelNames: ['ranking', 'reason'],
    registers: [registry],
  });
  return {
    ended: (reason) => ended.inc({ reason }),
    answered: (ranking, reason) => answered.inc({ ranking, reason: reason ?? '' }),
  };
}

/**
 * Gives each question a deadline. A question ends at once when the deadline passes or its own signal aborts, even while it
 * waits for a thread; its search then stops at the next checkpoint.
 * @throws Problem SERVICE_UNAVAILABLE after the deadline, and the reason of the question's signal
 */
export function limitQuestions<Asked extends LimitedQuestion, Answered extends NamedAnswer>(
  answerQuestion: (question: Asked) => Promise<Answered>,
  { seconds, logger, metrics }: QuestionLimits,
): (question: Asked) => Promise<Answered> {
  return async (question) => {
    const { collectionIds, signal: client } = question;
    const collection_id = collectionIds.join(' ');
    client?.throwIfAborted();
    const { promise: ended, reject } = Promise.withResolvers<never>();
    const ending = new AbortController();
    function end(reason: unknown): void {
      reject(reason);
      ending.abort(reason);
    }
    const timer = setTimeout(() => {
      metrics.ended('deadline');
      logger.warn({ collection_id, duration_ms: seconds * 1000 }, 'question timed out');
      end(tooSlow(seconds));
    }, seconds * 1000);
    const onGone = () => {
      metrics.ended('client_gone');
      end(client?.reason);
    };
    client?.addEventListener('abort', onGone, { once: true });
    try {
      const answer = await Promise.race([answerQuestion({ ...question, signal: ending.signal }), ended]);
      for (const { ranking, reason } of answer.rankings) metrics.answered(ranking, reason);
      return answer;
    } catch (error) {
      if (isPageMissing(error)) logger.error({ collection_id, remedy, err: error }, 'search index damaged');
      throw error;
    } finally {
      clearTimeout(timer);
      client?.removeEventListener('abort', onGone);
    }
  };
}

const remedy = 'Run "quartermaster fsck --repair" to rebuild the search index of the collection.';

function tooSlow(seconds: number): Problem {
  return new Problem(
    'SERVICE_UNAVAILABLE',
    `The search took longer than ${seconds} s and was stopped. Retry later, or ask with fewer words or a simpler filter.`,
    { retryAfter: 1 },
  );
}
