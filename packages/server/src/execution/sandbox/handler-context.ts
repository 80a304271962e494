import type { HandlerContext, OutboundRequest, OutboundResponse } from '@quartermaster/plugin-kit';
import { bounds, type CallError, type ToChild } from './protocol.ts';

/** The child's side of one run: what the handler gets, and what the host may do to it meanwhile. */
export interface RunContext {
  readonly context: HandlerContext;
  cancel(): void;
  answer(call: number, answer: OutboundResponse | CallError): void;
  /** From now on the context does nothing: what a run left behind cannot speak in the next one's name. */
  end(): void;
}

/** Thrown by `context.reject`. */
export class Rejection extends Error {}

interface Call {
  readonly line: string;
  readonly resolve: (response: OutboundResponse) => void;
  readonly reject: (cause: Error) => void;
}

/** Kept from before a handler is loaded, so that it cannot replace it. */
const { stringify } = JSON;

/** `write` sends one line to the host. The limits here give honest handlers clear messages; the host has its own. */
export function createRunContext(
  { run, maxRequests }: Extract<ToChild, { type: 'run' }>,
  write: (line: string) => void,
): RunContext {
  const inFlight = new Map<number, Call>();
  const waiting = new Map<number, Call>();
  let controller: AbortController | undefined;
  let over = false;
  let made = 0;
  let [logLines, logBytes, reports, lastReport] = [0, 0, 0, ''];

  function start(): void {
    for (const [number, call] of waiting) {
      if (inFlight.size >= bounds.concurrentRequests) return;
      waiting.delete(number);
      inFlight.set(number, call);
      write(call.line);
    }
  }

  function fetch(request: OutboundRequest): Promise<OutboundResponse> {
    if (over) return refuse('cancelled', 'The run is over.');
    const call = ++made;
    if (call > maxRequests) return refuse('too_many_requests', `A run may make at most ${maxRequests} requests.`);
    const line = stringify({ type: 'fetch', run, call, request });
    if (Buffer.byteLength(line) > bounds.requestBytes) return refuse('request_too_large', 'It is larger than 1 MiB.');
    return new Promise((resolve, reject) => {
      waiting.set(call, { line, resolve, reject });
      start();
    });
  }

  function log(message: string, fields?: Record<string, unknown>): void {
    const text = String(message);
    let line = stringify({ type: 'log', run, message: text, fields });
    if (line.length > bounds.logLineBytes) line = stringify({ type: 'log', run, message: text.slice(0, 1000) });
    logBytes += line.length;
    if (!over && ++logLines <= bounds.logLines && logBytes <= bounds.logBytes) write(line);
  }

  function progress(fraction: number, message?: string): void {
    const line = stringify({ type: 'progress', run, fraction: Math.min(1, Math.max(0, fraction || 0)), message });
    if (!over && line !== lastReport && ++reports <= bounds.progressReports) write(line);
    lastReport = line;
  }

  const context: HandlerContext = {
    fetch,
    log,
    progress,
    reject: (message) => {
      throw new Rejection(String(message));
    },
    get signal() {
      controller ??= new AbortController();
      return controller.signal;
    },
  };

  return {
    context,
    cancel: () => {
      over = true;
      controller ??= new AbortController();
      controller.abort();
      for (const call of [...inFlight.values(), ...waiting.values()]) {
        call.reject(callError({ code: 'cancelled', message: 'The run is over.' }));
      }
      waiting.clear();
    },
    answer: (number, answer) => {
      const call = inFlight.get(number);
      inFlight.delete(number);
      if ('status' in answer) call?.resolve(answer);
      else call?.reject(callError(answer));
      start();
    },
    end: () => {
      over = true;
      waiting.clear();
    },
  };
}

function callError({ code, message }: CallError): Error {
  return Object.assign(new Error(message), { code });
}

function refuse(code: string, message: string): Promise<never> {
  return Promise.reject(callError({ code, message }));
}
