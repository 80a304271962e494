import { Worker } from 'node:worker_threads';
import type { ResponseMapping } from '@quartermaster/plugin-kit';
import type { Admission } from '../../../platform/admission/admission.ts';
import type { Owner } from '../../../platform/admission/owner.ts';
import { askThread } from '../../../platform/concurrency/ask-thread.ts';
import { moduleUrl } from '../../../platform/server-process/module-path.ts';
import type { Answer } from '../upstream-answers/answer.ts';
import {
  type AnswerContext,
  type AnswerRules,
  type CallOutcome,
  interpretAnswer,
  leftToThread,
  maxReadAtOnce,
} from './interpret-answer.ts';

/** The `response` of a call, as the manifest declares it and compiled. */
export interface PreparedResponse extends AnswerRules {
  readonly source: ResponseMapping;
}

/**
 * Parses upstream answers into outcomes. Long answers, and those whose expressions take many steps, are read in a thread,
 * so that they do not block the event loop.
 */
export interface AnswerReader {
  read(
    response: PreparedResponse,
    answer: Answer,
    context: AnswerContext & { readonly signal: AbortSignal; readonly owner: Owner },
  ): Promise<CallOutcome>;
  /** Parses the JSON text of a large output and splits it, in the thread. */
  readOutput(json: Buffer, context: OutputContext): Promise<CallOutcome>;
}

export interface OutputContext {
  readonly owner: Owner;
  /** The maximum size of the output as JSON, in bytes. */
  readonly maxOutputBytes: number;
  readonly signal: AbortSignal;
}

export interface AnswerRequest {
  readonly response: ResponseMapping;
  readonly answer: Answer;
  readonly context: AnswerContext;
}

/** The heap limit of the thread. Ten MiB of JSON take up to 250 MiB as values. */
const maxHeapMb = 512;
/** The time limit for one answer, without the time in which it waits for the thread. */
const maxReadMs = 10_000;
/** Milliseconds without work after which the thread is stopped to free its memory. */
const idleMs = 10_000;

/**
 * Creates a reader. Its thread starts with the first long answer and never keeps the process alive. The thread reads one
 * answer at a time; waiting answers are scheduled fairly among projects and keys.
 */
export function createAnswerReader(admission: Admission): AnswerReader {
  let thread: Worker | undefined;
  const queue = admission.queue('answers', { waiting: Number.POSITIVE_INFINITY });
  let idle: NodeJS.Timeout | undefined;

  function rest(): void {
    const ending = thread;
    thread = undefined;
    ending?.terminate().catch(() => undefined);
  }

  async function readInThread(request: AnswerRequest, signal: AbortSignal): Promise<CallOutcome> {
    clearTimeout(idle);
    if (thread === undefined) {
      thread = new Worker(moduleUrl(import.meta, './answer-thread'), {
        name: 'answers',
        resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
      });
      thread.unref();
    }
    try {
      return await askThread<CallOutcome>(thread, request, AbortSignal.any([signal, AbortSignal.timeout(maxReadMs)]));
    } catch (error) {
      rest();
      if (signal.aborted) return { kind: 'cancelled' };
      return {
        kind: 'failed',
        message: `The response of the third party could not be read: ${reasonOf(error)}.`,
        isUnusable: true,
      };
    } finally {
      idle = setTimeout(rest, idleMs).unref();
    }
  }

  async function readInTurn(request: AnswerRequest, owner: Owner, signal: AbortSignal): Promise<CallOutcome> {
    return (await queue.run(owner, () => readInThread(request, signal), { signal })) ?? { kind: 'cancelled' };
  }

  return {
    async read(response, answer, { signal, owner, input, maxOutputBytes }) {
      const context = { input, maxOutputBytes };
      if (answer.body.length <= maxReadAtOnce) {
        const outcome = interpretAnswer(response, answer, context);
        if (outcome !== leftToThread) return outcome;
      }
      const { status, headers, body } = answer;
      const inThread = { ...context, isInThread: true };
      const request = { response: response.source, answer: { status, headers, body }, context: inThread };
      return await readInTurn(request, owner, signal);
    },
    async readOutput(json, { signal, owner, maxOutputBytes }) {
      const context = { input: {}, maxOutputBytes, isInThread: true };
      const request = { response: {}, answer: { status: 200, headers: {}, body: json }, context };
      const outcome = await readInTurn(request, owner, signal);
      if (outcome.kind === 'returned' || outcome.kind === 'cancelled') return outcome;
      return {
        kind: 'failed',
        message: `The output cannot be used: ${'message' in outcome ? outcome.message : outcome.kind}`,
        isUnusable: true,
      };
    },
  };
}

function reasonOf(error: unknown): string {
  if (error instanceof Error && error.name === 'AbortError') return `it takes more than ${maxReadMs / 1000} s`;
  if (error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY') {
    return `it takes more than ${maxHeapMb} MiB`;
  }
  return error instanceof Error ? error.message : 'unknown';
}
