import type { Handler } from '@quartermaster/plugin-kit';
import { frameKinds } from '../../../platform/processes/frames.ts';
import { openParentChannel } from '../../../platform/processes/parent-channel.ts';
import { createRun, Rejection, type RunInProgress } from './handler-context.ts';
import { bounds, type ToChild } from './protocol.ts';

/**
 * The entry point of a child process. It loads each handler once and executes one run at a time. A handler acts only
 * through the host, which checks every request again. The limits here give honest handlers clear messages.
 */
type RunMessage = Extract<ToChild, { type: 'run' }>;

/** Copied before a handler is loaded, so that no handler can replace them. */
const { stringify, parse } = JSON;
const later = setImmediate;
const now = performance.now.bind(performance);
const handlers = new Map<string, Handler>();
/** Functions that clear the timers of the run in progress. Called when it ends, so that no timer fires during the next run. */
const timers: Array<() => void> = [];
for (const kind of ['Timeout', 'Interval', 'Immediate']) trackTimers(`set${kind}`, `clear${kind}`);
/** Runs that the host has sent and that have not begun. */
const queue: RunMessage[] = [];
const cancelled = new Set<string>();
let current: RunInProgress | undefined;
/** Whether a run has begun and its answer is not sent yet. */
let isBusy = false;

const channel = openParentChannel((_kind, content) => receive(parse(content.toString())));

function write(json: string): void {
  void channel.send(frameKinds.message, json);
}

function receive(message: ToChild): void {
  if (message.type === 'run') {
    if (isBusy) queue.push(message);
    else void execute(message);
  } else if (message.type === 'drop_pending') {
    queue.length = 0;
    write('{"type":"pending_dropped"}');
  } else if (message.type === 'cancel') {
    if (message.run === current?.id) current.cancel();
    else if (queue.some(({ run }) => run === message.run)) cancelled.add(message.run);
  } else if (message.run === current?.id) {
    current.answer(message.call, message.type === 'answer' ? message.response : message.error);
  }
}

async function execute(message: RunMessage): Promise<void> {
  isBusy = true;
  let answer: string;
  let began = now();
  let hasReturned = false;
  try {
    if (cancelled.delete(message.run)) throw new Error('The run was cancelled before it started.');
    const handler = handlers.get(message.handler) ?? (await load(message.handler));
    const { run: id, plugin, maxRequests } = message;
    current = createRun({ id, plugin, maxRequests, write, isCurrent });
    began = now();
    const output = await handler(message.input, current.context);
    hasReturned = true;
    answer = describeOutput(message, output, now() - began);
  } catch (cause) {
    const type = cause instanceof Rejection ? 'rejected' : 'failed';
    answer = stringify({ type, run: message.run, ms: now() - began, message: messageOf(cause), hasReturned });
  }
  current = undefined;
  for (const clear of timers.splice(0)) clear();
  // One turn of the event loop later, so that an unhandled rejection fails this run and not the next one.
  later(finish, answer);
}

function finish(answer: string): void {
  write(answer);
  isBusy = false;
  const next = queue.shift();
  if (next !== undefined) void execute(next);
}

function isCurrent(run: RunInProgress): boolean {
  return run === current;
}

async function load(url: string): Promise<Handler> {
  const loaded: { run?: unknown } = await import(url);
  if (typeof loaded.run !== 'function') throw new Error('The handler file exports no function named "run".');
  // The export `run` is the handler. Its type is not checked here: the author declares it.
  const handler = loaded.run as Handler;
  handlers.set(url, handler);
  return handler;
}

/** Serialises the output. `stringify` throws for cycles and BigInt, with messages that explain the cause. */
function describeOutput({ run, maxOutputBytes }: RunMessage, output: unknown, ms: number): string {
  const json: string | undefined = stringify(output);
  if (json === undefined) throw new Error(`The output is not JSON: it is of the type ${typeof output}.`);
  if (Buffer.byteLength(json) > maxOutputBytes) throw new Error(`The output is over ${maxOutputBytes} bytes of JSON.`);
  return `{"type":"returned","run":"${run}","ms":${ms},"output":${json}}`;
}

function messageOf(cause: unknown): string {
  try {
    return String(cause instanceof Error ? cause.message : cause).slice(0, bounds.messageCharacters);
  } catch {
    return 'The handler threw a value that has no text.';
  }
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
