import { Socket } from 'node:net';
import type { Handler, HandlerContext, OutboundRequest, OutboundResponse } from '@quartermaster/plugin-kit';
import { bounds, type CallError, createLineReader, type ToChild } from './protocol.ts';

/**
 * Entry of the child: loads a handler once per path and runs it, one run at a time. All that a handler may do goes
 * through the host, which checks it again; the limits here give honest handlers clear messages.
 */
type RunMessage = Extract<ToChild, { type: 'run' }>;
type Run = ReturnType<typeof createRun>;

/** Kept from before a handler is loaded, so that it cannot replace them. */
const { stringify, parse } = JSON;
const host = new Socket({ fd: 3, readable: true, writable: true });
const { exit } = process;
const write = (line: string): boolean => host.write(`${line}\n`);
const handlers = new Map<string, Handler>();
/** Of the run in progress: what it leaves behind is cleared, so that it does not fire into the next one. */
const timers: Array<() => void> = [];
for (const kind of ['Timeout', 'Interval', 'Immediate']) trackTimers(`set${kind}`, `clear${kind}`);
let current: Run | undefined;

class Rejection extends Error {}
function reject(message: string): never {
  throw new Rejection(String(message));
}

host.on('data', createLineReader({ onLine: receive, onTooLong: exit, maxBytes: () => Number.POSITIVE_INFINITY }));
// The server is gone, however it went.
host.on('close', () => exit(0)).on('error', () => exit(0));
write('{"type":"ready"}');

function receive(line: string): void {
  const message: ToChild = parse(line);
  if (message.type === 'run') void execute(message);
  else if (current?.id !== message.run) return;
  else if (message.type === 'cancel') current.cancel();
  else current.answer(message.call, message.type === 'answer' ? message.response : message.error);
}

async function execute(message: RunMessage): Promise<void> {
  current = createRun(message);
  let line: string;
  try {
    const handler = handlers.get(message.handler) ?? (await load(message.handler));
    line = describeOutput(message, await handler(message.input, current.context));
  } catch (cause) {
    const type = cause instanceof Rejection ? 'rejected' : 'failed';
    line = stringify({ type, run: message.run, message: messageOf(cause) });
  }
  current = undefined;
  for (const clear of timers.splice(0)) clear();
  write(line);
}

async function load(url: string): Promise<Handler> {
  const loaded: { run?: unknown } = await import(url);
  if (typeof loaded.run !== 'function') throw new Error('The handler file exports no function named "run".');
  // What a file exports as `run` is a handler; its types are the author's promise.
  const handler = loaded.run as Handler;
  handlers.set(url, handler);
  return handler;
}

/** `stringify` throws for cycles and BigInt with messages that tell so. */
function describeOutput({ run, maxOutputBytes }: RunMessage, output: unknown): string {
  const json: string | undefined = stringify(output);
  if (json === undefined) throw new Error(`The output is not JSON: it is of the type ${typeof output}.`);
  if (Buffer.byteLength(json) > maxOutputBytes) throw new Error(`The output is over ${maxOutputBytes} bytes of JSON.`);
  return `{"type":"returned","run":"${run}","output":${json}}`;
}

function messageOf(cause: unknown): string {
  try {
    return String(cause instanceof Error ? cause.message : cause).slice(0, bounds.messageCharacters);
  } catch {
    return 'The handler threw a value that has no text.';
  }
}

function createRun({ run: id, maxRequests }: RunMessage) {
  type Call = { line: string; resolve: (response: OutboundResponse) => void; reject: (cause: Error) => void };
  const [waiting, inFlight] = [new Map<number, Call>(), new Map<number, Call>()];
  const abort = new AbortController();
  let [made, logLines, logBytes, reports, lastReport] = [0, 0, 0, 0, ''];
  /** What a run left behind cannot speak in the next one's name. */
  const isOver = (): boolean => current?.id !== id || abort.signal.aborted;

  function dial(): void {
    for (const [number, call] of waiting) {
      if (inFlight.size >= bounds.concurrentRequests) return;
      waiting.delete(number);
      inFlight.set(number, call);
      write(call.line);
    }
  }
  async function fetch(request: OutboundRequest): Promise<OutboundResponse> {
    if (isOver()) throw callError('cancelled', 'The run is over.');
    const call = ++made;
    if (call > maxRequests) throw callError('too_many_requests', `A run may make at most ${maxRequests} requests.`);
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
  function cancel(): void {
    abort.abort();
    for (const call of [...inFlight.values(), ...waiting.values()])
      call.reject(callError('cancelled', 'The run is over.'));
    waiting.clear();
  }
  function answer(number: number, answer: OutboundResponse | CallError): void {
    const call = inFlight.get(number);
    inFlight.delete(number);
    if ('status' in answer) call?.resolve(answer);
    else call?.reject(callError(answer.code, answer.message));
    dial();
  }
  const context: HandlerContext = { fetch, log, progress, reject, signal: abort.signal };
  return { id, context, cancel, answer };
}

function callError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

function trackTimers(setName: string, clearName: string): void {
  const [set, clear] = [Reflect.get(globalThis, setName), Reflect.get(globalThis, clearName)];
  const tracked = (...values: unknown[]): unknown => {
    const timer = set(...values);
    timers.push(() => clear(timer));
    return timer;
  };
  Reflect.set(globalThis, setName, Object.defineProperties(tracked, Object.getOwnPropertyDescriptors(set)));
}
