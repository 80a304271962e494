import type { OutboundRequest } from '@quartermaster/plugin-kit';
import { bounds, type CallError, type FromChild, type ToChild } from './protocol.ts';
import { faultOf } from './read-from-child.ts';
import type { SandboxLimits, SandboxOutcome, SandboxTask } from './sandbox.ts';

/** The host's side of one run handed to a child: its deadline, its cancellation, its calls, its outcome. */
export interface Run {
  readonly id: string;
  readonly limits: SandboxLimits;
  /** Takes its secrets out of a text. */
  readonly hide: (text: string) => string;
  readonly ended: Promise<RunEnded>;
  /** Every run before it has been answered: the child may be running it. Its time counts from here. */
  begin(): void;
  /** True when the message was the run's answer. */
  receive(message: RunMessage): boolean;
  /** Decides the outcome of a run whose process is being killed. The first decision stands. */
  setOutcome(outcome: SandboxOutcome): void;
  /** The process has ended: the run is over, with the outcome decided before or else with this one. */
  end(outcome: SandboxOutcome): void;
  /** The child has not begun it and never will: it goes back to the queue. */
  requeue(): void;
}

export type RunMessage = Exclude<FromChild, { type: 'pending_dropped' }>;

export interface RunEnded {
  /** Null when the child never began it: it is requeued. */
  readonly outcome: SandboxOutcome | null;
  /** How long the handler took, as the child says. */
  readonly ms: number | undefined;
}

export interface RunOptions {
  readonly id: string;
  readonly task: SandboxTask;
  readonly send: (message: ToChild) => void;
  readonly kill: () => void;
  readonly signal: AbortSignal;
  /** The run waits for something outside: what stands behind it should not. */
  readonly onWaiting: () => void;
  /** Folders that no message to the caller may show. */
  readonly hiddenFolders: readonly string[];
}

/** How long a handler that is told to stop may take before its process is killed. */
const graceMs = 200;

export function createRun({ id, task, send, kill, signal, onWaiting, hiddenFolders }: RunOptions): Run {
  const { timeoutMs, maxRequests } = task.limits;
  const { promise: ended, resolve } = Promise.withResolvers<RunEnded>();
  /** Decided, but the handler still has its grace to come to an end by itself. */
  let stopping: SandboxOutcome | undefined = signal.aborted ? { kind: 'cancelled' } : undefined;
  let calls: AbortController | undefined;
  let callsMade = 0;
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
    // A run that waits behind others is only skipped: its grace counts from when it would begin.
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
      if (stopping !== undefined || over) throw callError('cancelled', 'The run is over.');
      if (++callsMade > maxRequests || inFlight >= bounds.concurrentRequests) {
        throw callError('too_many_requests', `A run may make at most ${maxRequests} requests.`);
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
      case 'failed':
        return settle({ kind: 'failed', message: cleanMessage(message.message, hiddenFolders) }, message.ms);
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
    hide: task.hide ?? ((text) => text),
    ended,
    begin,
    receive,
    setOutcome,
    end: (outcome) => void settle(outcome),
    requeue: () => void settle(null),
  };
}

function checkOutput(output: unknown): SandboxOutcome {
  const fault = faultOf(output);
  return fault === undefined
    ? { kind: 'returned', output }
    : { kind: 'failed', message: `The output is refused: ${fault}.` };
}

function callError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

function describeCause(cause: unknown): CallError {
  const { code, message }: { code?: unknown; message?: unknown } = cause instanceof Object ? cause : {};
  return {
    code: typeof code === 'string' ? code : 'fetch_failed',
    message: typeof message === 'string' ? message : 'The request could not be made.',
  };
}

/** One bounded line without control characters and without the paths of this machine. */
function cleanMessage(message: string, hiddenFolders: readonly string[]): string {
  let text = message.slice(0, bounds.messageCharacters);
  for (const folder of hiddenFolders) text = text.replaceAll(`file://${folder}`, '.').replaceAll(folder, '.');
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').trim();
}
