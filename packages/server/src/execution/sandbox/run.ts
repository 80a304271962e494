import type { OutboundRequest } from '@quartermaster/plugin-kit';
import { bounds, type CallError, type FromChild, faultOf, type ToChild } from './protocol.ts';
import type { SandboxOutcome, SandboxTask } from './sandbox.ts';

/** The host's side of one run: its deadline, its cancellation, its calls, its outcome. */
export interface Run {
  readonly id: string;
  readonly outcome: Promise<SandboxOutcome>;
  receive(message: Exclude<FromChild, { type: 'ready' }>): void;
  /** Decides the outcome of a run whose process is being killed. The first decision stands. */
  doom(outcome: SandboxOutcome): void;
  /** The process has ended: the run is over, with the outcome decided before or else with this one. */
  end(outcome: SandboxOutcome): void;
}

export interface RunOptions {
  readonly id: string;
  readonly task: SandboxTask;
  readonly send: (message: ToChild) => void;
  readonly kill: () => void;
  readonly signal: AbortSignal;
  /** Folders that no message to the caller may show. */
  readonly hiddenFolders: readonly string[];
}

/** How long a handler that is told to stop may take before its process is killed. */
const graceMs = 200;

export function createRun({ id, task, send, kill, signal, hiddenFolders }: RunOptions): Run {
  const { timeoutMs, maxRequests } = task.limits;
  const { promise: outcome, resolve } = Promise.withResolvers<SandboxOutcome>();
  /** Decided, but the handler still has its grace to come to an end by itself. */
  let stopping: SandboxOutcome | undefined;
  let calls: AbortController | undefined;
  let callsMade = 0;
  let inFlight = 0;
  let over = false;

  const cancel = (): void => stop({ kind: 'cancelled' });
  let timer = setTimeout(() => stop({ kind: 'timed_out', limitMs: timeoutMs }), timeoutMs);
  signal.addEventListener('abort', cancel);

  function doom(outcome: SandboxOutcome): void {
    stopping ??= outcome;
    calls?.abort();
  }

  function stop(outcome: SandboxOutcome): void {
    if (over || stopping !== undefined) return;
    doom(outcome);
    clearTimeout(timer);
    timer = setTimeout(kill, graceMs);
    send({ type: 'cancel', run: id });
  }

  function end(outcome: SandboxOutcome): void {
    if (over) return;
    over = true;
    clearTimeout(timer);
    signal.removeEventListener('abort', cancel);
    calls?.abort();
    resolve(stopping ?? outcome);
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

  function receive(message: Parameters<Run['receive']>[0]): void {
    if (over) return;
    switch (message.type) {
      case 'returned':
        end(checkOutput(message.output));
        return;
      case 'failed':
        end({ kind: 'failed', message: cleanMessage(message.message, hiddenFolders) });
        return;
      case 'rejected':
        end({ kind: 'input_rejected', message: cleanMessage(message.message, hiddenFolders) });
        return;
      case 'fetch':
        void answer(message.call, message.request);
        return;
      case 'log':
        task.onLog(message.message.slice(0, bounds.logLineBytes), message.fields);
        return;
      case 'progress':
        task.onProgress(message.fraction, message.message?.slice(0, bounds.messageCharacters));
        return;
    }
  }

  return { id, outcome, receive, doom, end };
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
