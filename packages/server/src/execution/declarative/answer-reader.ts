import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { ResponseMapping } from '@quartermaster/plugin-kit';
import { createFairQueue, type Owner } from '../../kernel/concurrency/fair-queue.ts';
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
    context: AnswerContext & { readonly signal: AbortSignal; readonly owner: Owner },
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

/**
 * The thread starts with the first long answer and never keeps the process alive. It reads one answer after the other, in turn by
 * project and key.
 */
export function createAnswerReader(): AnswerReader {
  let thread: Worker | undefined;
  const waiting = createFairQueue<Owner & { readonly resolve: (isTurn: boolean) => void }>((turn) => turn);
  let isBusy = false;
  let idle: NodeJS.Timeout | undefined;

  function rest(): void {
    const ending = thread;
    thread = undefined;
    ending?.terminate().catch(() => undefined);
  }

  async function readInThread(request: AnswerRequest, signal: AbortSignal): Promise<CallOutcome> {
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

  /** @returns false when the run was cancelled first */
  async function waitForTurn({ projectId, keyId }: Owner, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    if (!isBusy) {
      isBusy = true;
      return true;
    }
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const turn = { projectId, keyId, resolve };
    const leave = () => waiting.remove(turn) && resolve(false);
    waiting.add(turn);
    signal.addEventListener('abort', leave, { once: true });
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  async function readInTurn(request: AnswerRequest, owner: Owner, signal: AbortSignal): Promise<CallOutcome> {
    if (!(await waitForTurn(owner, signal))) return { kind: 'cancelled' };
    try {
      return await readInThread(request, signal);
    } finally {
      const next = waiting.next();
      isBusy = next !== undefined;
      next?.resolve(true);
    }
  }

  return {
    async read(response, answer, { signal, owner, input, takesCredentials, maxOutputBytes }) {
      const context = { input, takesCredentials, maxOutputBytes };
      if (answer.body.length <= maxReadAtOnce) return interpretAnswer(response, answer, context);
      const { status, headers, body } = answer;
      const request = { response: response.source, answer: { status, headers, body }, context };
      return await readInTurn(request, owner, signal);
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
