import type { HandlerContext, OutboundRequest, OutboundResponse } from '@quartermaster/plugin-kit';
import { bounds, type CallError } from './protocol.ts';

/** A run in progress, in the child process. */
export interface RunInProgress {
  readonly id: string;
  readonly context: HandlerContext;
  cancel(): void;
  answer(call: number, answer: OutboundResponse | CallError): void;
}

export interface CreateRunOptions {
  readonly id: string;
  readonly plugin: string;
  readonly maxRequests: number;
  /** Sends a message to the host. */
  readonly write: (json: string) => void;
  /** Whether the run is still in progress. A callback that survives its run must not send messages for the next one. */
  readonly isCurrent: (run: RunInProgress) => boolean;
}

export class Rejection extends Error {}
function reject(message: string): never {
  throw new Rejection(String(message));
}

/** Copied before a handler is loaded, so that no handler can replace it. */
const { stringify } = JSON;

type Call = { line: string; resolve: (response: OutboundResponse) => void; reject: (cause: Error) => void };

/** Creates the context of a handler. Its functions send messages to the host, which checks each one again. */
export function createRun({ id, plugin, maxRequests, write, isCurrent }: CreateRunOptions): RunInProgress {
  const [waiting, inFlight] = [new Map<number, Call>(), new Map<number, Call>()];
  /** Created when a handler first reads its signal. Few handlers do, and it costs more than the rest of the context. */
  let abort: AbortController | undefined;
  let isCancelled = false;
  let [requests, logLines, logBytes, reports, lastReport] = [0, 0, 0, 0, ''];
  const isOver = (): boolean => isCancelled || !isCurrent(self);

  function dial(): void {
    for (const [number, call] of waiting) {
      if (inFlight.size >= bounds.concurrentRequests) return;
      waiting.delete(number);
      inFlight.set(number, call);
      write(call.line);
    }
  }
  async function fetch(request: OutboundRequest): Promise<OutboundResponse> {
    if (isOver()) throw callError('cancelled', 'The run has ended.');
    const call = ++requests;
    if (call > maxRequests) throw callError('too_many_requests', `A run may send at most ${maxRequests} requests.`);
    const line = stringify({ type: 'fetch', run: id, call, request });
    if (Buffer.byteLength(line) > bounds.requestBytes) throw callError('request_too_large', 'It is larger than 1 MiB.');
    return new Promise((resolve, reject) => {
      waiting.set(call, { line, resolve, reject });
      dial();
    });
  }
  function log(message: string, fields?: Record<string, unknown>): void {
    let line = stringify({ type: 'log', run: id, message: String(message), fields });
    if (line.length > bounds.logLineBytes) line = stringify({ type: 'log', run: id, message: line.slice(0, 1000) });
    logBytes += line.length;
    if (!isOver() && ++logLines <= bounds.logLines && logBytes <= bounds.logBytes) write(line);
  }
  function progress(fraction: number, message?: string): void {
    const bounded = Math.min(1, Math.max(0, fraction || 0));
    const line = stringify({ type: 'progress', run: id, fraction: bounded, message });
    if (!isOver() && line !== lastReport && ++reports <= bounds.progressReports) write(line);
    lastReport = line;
  }
  function signal(): AbortSignal {
    abort ??= new AbortController();
    if (isCancelled) abort.abort();
    return abort.signal;
  }
  function cancel(): void {
    isCancelled = true;
    abort?.abort();
    const calls = [...inFlight.values(), ...waiting.values()];
    for (const call of calls) call.reject(callError('cancelled', 'The run has ended.'));
    waiting.clear();
  }
  function answer(number: number, answer: OutboundResponse | CallError): void {
    const call = inFlight.get(number);
    inFlight.delete(number);
    if ('status' in answer) call?.resolve(answer);
    else call?.reject(callError(answer.code, answer.message));
    dial();
  }
  const context: HandlerContext = {
    plugin,
    fetch,
    log,
    progress,
    reject,
    get signal() {
      return signal();
    },
  };
  const self: RunInProgress = { id, context, cancel, answer };
  return self;
}

function callError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
