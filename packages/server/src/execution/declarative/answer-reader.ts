import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { ResponseMapping } from '@quartermaster/plugin-kit';
import {
  type Answer,
  type AnswerContext,
  type AnswerRules,
  type CallOutcome,
  interpretAnswer,
  maxReadAtOnce,
} from './interpret-answer.ts';

/** A call's `response` as it is written and compiled. */
export interface PreparedResponse extends AnswerRules {
  readonly source: ResponseMapping;
}

/** Parses what upstreams answer and makes outcomes of it; a long answer is read in a thread, which the event loop does not wait for. */
export interface AnswerReader {
  read(
    response: PreparedResponse,
    answer: Answer,
    context: AnswerContext & { readonly signal: AbortSignal },
  ): Promise<CallOutcome>;
}

export interface AnswerRequest {
  readonly response: ResponseMapping;
  readonly answer: Answer;
  readonly context: AnswerContext;
}

/** Of the thread's heap. Ten MiB of JSON take up to 250 MiB as values. */
const maxHeapMb = 512;
/** Of one answer, once it is its turn. */
const maxReadMs = 10_000;
/** Then the thread ends and gives its memory back. */
const idleMs = 10_000;

/** The thread starts with the first long answer, reads one after the other and never keeps the process alive. */
export function createAnswerReader(): AnswerReader {
  let thread: Worker | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let idle: NodeJS.Timeout | undefined;

  function rest(): void {
    const ending = thread;
    thread = undefined;
    ending?.terminate().catch(() => undefined);
  }

  async function readInThread(request: AnswerRequest, signal: AbortSignal): Promise<CallOutcome> {
    if (signal.aborted) return { kind: 'cancelled' };
    clearTimeout(idle);
    if (thread === undefined) {
      thread = new Worker(new URL('./answer-thread.ts', import.meta.url), {
        name: 'answers',
        resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
      });
      thread.unref();
    }
    try {
      return await ask(thread, request, AbortSignal.any([signal, AbortSignal.timeout(maxReadMs)]));
    } catch (error) {
      rest();
      if (signal.aborted) return { kind: 'cancelled' };
      return { kind: 'failed', message: `the answer could not be read: ${reasonOf(error)}` };
    } finally {
      idle = setTimeout(rest, idleMs).unref();
    }
  }

  return {
    async read(response, answer, { signal, input, takesCredentials, maxOutputBytes }) {
      const context = { input, takesCredentials, maxOutputBytes };
      if (answer.body.length <= maxReadAtOnce) return interpretAnswer(response, answer, context);
      const { status, headers, body } = answer;
      const request = { response: response.source, answer: { status, headers, body }, context };
      const reading = last.then(() => readInThread(request, signal));
      last = reading;
      return await reading;
    },
  };
}

async function ask(thread: Worker, request: AnswerRequest, signal: AbortSignal): Promise<CallOutcome> {
  const answered = new AbortController();
  const either = AbortSignal.any([signal, answered.signal]);
  const ended = once(thread, 'exit', { signal: either }).then(() => {
    throw new Error('its thread ended');
  });
  try {
    const answer = once(thread, 'message', { signal: either });
    thread.postMessage(request);
    const [outcome] = (await Promise.race([answer, ended])) as [CallOutcome]; // the thread sends nothing else
    return outcome;
  } finally {
    answered.abort();
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof Error && error.name === 'AbortError') return `it takes more than ${maxReadMs / 1000} s`;
  if (error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY') {
    return `it takes more than ${maxHeapMb} MiB`;
  }
  return error instanceof Error ? error.message : 'unknown';
}
