import type { OutboundRequest } from '@quartermaster/plugin-kit';
import { bounds, type CallError, type FromChild, type ToChild } from './protocol.ts';
import { faultOf } from './read-from-child.ts';
import type { SandboxLimits, SandboxOutcome, SandboxTask } from './sandbox.ts';

/** The host's view of one run that was sent to a child: its deadline, cancellation, calls and outcome. */
export interface Run {
  readonly id: string;
  readonly limits: SandboxLimits;
  /** Redacts the secrets of the run from a text. */
  readonly redact: (text: string) => string;
  readonly ended: Promise<RunEnded>;
  /** Starts the clock of the run. Called when all runs before it are answered, so the child may be executing it. */
  begin(): void;
  /** @returns true when the message was the answer to the run */
  receive(message: RunMessage): boolean;
  /** Sets the outcome of a run whose process is about to be killed. Only the first call has an effect. */
  setOutcome(outcome: SandboxOutcome): void;
  /** Ends the run because its process has exited, with the outcome set before, otherwise with this one. */
  end(outcome: SandboxOutcome): void;
  /** Returns the run to the queue: the child has not begun it and will not. */
  requeue(): void;
}

export type RunMessage = Exclude<FromChild, { type: 'pending_dropped' }>;

export interface RunEnded {
  /** null when the child never began the run, which is then requeued. */
  readonly outcome: SandboxOutcome | null;
  /** The duration of the handler as the child reports it. */
  readonly ms: number | undefined;
}

export interface RunOptions {
  readonly id: string;
  readonly task: SandboxTask;
  readonly send: (message: ToChild) => void;
  readonly kill: () => void;
  readonly signal: AbortSignal;
  /** Called when the run waits for I/O, so that no run is pipelined behind it. */
  readonly onWaiting: () => void;
  /** Folders that messages to the caller must not show. */
  readonly hiddenFolders: readonly string[];
}

/** Milliseconds between the request to stop and the kill of the process. */
const graceMs = 200;

export function createRun({ id, task, send, kill, signal, onWaiting, hiddenFolders }: RunOptions): Run {
  const { timeoutMs, maxRequests } = task.limits;
  const { promise: ended, resolve } = Promise.withResolvers<RunEnded>();
  /** The decided outcome of a run whose handler still has its grace period. */
  let stopping: SandboxOutcome | undefined = signal.aborted ? { kind: 'cancelled' } : undefined;
  let calls: AbortController | undefined;
  let numCalls = 0;
  let inFlight = 0;
  let hasBegun = false;
  let over = false;
  let timer: NodeJS.Timeout | undefined;

  const cancel = (): void => stop({ kind: 'cancelled' });
  signal.addEventListener('abort', cancel);

  function begin(): void {
    hasBegun = true;
    if (task.timings !== undefined) task.timings.pluginBeganAt = performance.now();
    timer =
      stopping === undefined
        ? setTimeout(() => stop({ kind: 'timed_out', limitMs: timeoutMs }), timeoutMs)
        : setTimeout(kill, graceMs);
  }

  function setOutcome(outcome: SandboxOutcome): void {
    stopping ??= outcome;
    calls?.abort();
  }

  function stop(outcome: SandboxOutcome): void {
    if (over || stopping !== undefined) return;
    setOutcome(outcome);
    clearTimeout(timer);
    // A run that waits behind others is skipped by the child: it needs no grace period yet.
    if (hasBegun) timer = setTimeout(kill, graceMs);
    send({ type: 'cancel', run: id });
  }

  function settle(outcome: SandboxOutcome | null, ms?: number): true {
    if (over) return true;
    over = true;
    clearTimeout(timer);
    signal.removeEventListener('abort', cancel);
    calls?.abort();
    resolve({ outcome: stopping ?? outcome, ms });
    return true;
  }

  async function answer(call: number, request: OutboundRequest): Promise<void> {
    try {
      if (stopping !== undefined || over) throw callError('cancelled', 'The run has ended.');
      if (++numCalls > maxRequests || inFlight >= bounds.concurrentRequests) {
        throw callError('too_many_requests', `A run may send at most ${maxRequests} requests.`);
      }
      calls ??= new AbortController();
      inFlight += 1;
      const response = await task.onFetch(request, calls.signal).finally(() => {
        inFlight -= 1;
      });
      if (!over) send({ type: 'answer', run: id, call, response });
    } catch (cause) {
      if (!over) send({ type: 'refusal', run: id, call, error: describeCause(cause) });
    }
  }

  function receive(message: RunMessage): boolean {
    switch (message.type) {
      case 'returned':
        return settle(checkOutput(message.output), message.ms);
      case 'returned_large':
        return settle({ kind: 'returned_large', json: message.json }, message.ms);
      case 'failed':
        return settle(failed(message, hiddenFolders), message.ms);
      case 'rejected':
        return settle({ kind: 'input_rejected', message: cleanMessage(message.message, hiddenFolders) }, message.ms);
      case 'fetch':
        onWaiting();
        void answer(message.call, message.request);
        return false;
      case 'log':
        task.onLog(message.message.slice(0, bounds.logLineBytes), message.fields);
        return false;
      case 'progress':
        task.onProgress(message.fraction, message.message?.slice(0, bounds.messageCharacters));
        return false;
    }
  }

  return {
    id,
    limits: task.limits,
    redact: task.redact ?? ((text) => text),
    ended,
    begin,
    receive,
    setOutcome,
    end: (outcome) => void settle(outcome),
    requeue: () => void settle(null),
  };
}

function failed(
  { message, hasReturned }: Extract<RunMessage, { type: 'failed' | 'rejected' }>,
  hidden: readonly string[],
) {
  const outcome = { kind: 'failed', message: cleanMessage(message, hidden) } as const;
  return hasReturned === true ? ({ ...outcome, isUnusable: true } as const) : outcome;
}

function checkOutput(output: unknown): SandboxOutcome {
  const fault = faultOf(output);
  return fault === undefined
    ? { kind: 'returned', output }
    : { kind: 'failed', message: `The output is not allowed: ${fault}.`, isUnusable: true };
}

function callError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

function describeCause(cause: unknown): CallError {
  const { code, message }: { code?: unknown; message?: unknown } = cause instanceof Object ? cause : {};
  return {
    code: typeof code === 'string' ? code : 'fetch_failed',
    message: typeof message === 'string' ? message : 'The request could not be sent.',
  };
}

/** Turns a message into one bounded line without control characters and without paths of this machine. */
function cleanMessage(message: string, hiddenFolders: readonly string[]): string {
  let text = message.slice(0, bounds.messageCharacters);
  // Errors that hold a stack, also as JSON.
  text = text.replaceAll(/(?:\n|\\n) {1,8}at [^\n\\"]{1,300}/g, '');
  for (const folder of hiddenFolders) text = text.replaceAll(`file://${folder}`, '.').replaceAll(folder, '.');
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').trim();
}
