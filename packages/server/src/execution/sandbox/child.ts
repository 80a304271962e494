import { Socket } from 'node:net';
import type { Handler } from '@quartermaster/plugin-kit';
import { createRunContext, Rejection, type RunContext } from './handler-context.ts';
import { createLineReader } from './line-reader.ts';
import { bounds, type ToChild } from './protocol.ts';
import { fastenSeatBelt } from './seat-belt.ts';

/**
 * Entry of the child: loads a handler once per path and runs it, one run at a time. Everything a handler may do goes
 * through the host. Its first argument is the `file:` URL of the bundle's folder.
 */
type RunMessage = Extract<ToChild, { type: 'run' }>;

/** Kept from before a handler is loaded, so that it cannot replace them. */
const { stringify, parse } = JSON;
const host = new Socket({ fd: 3, readable: true, writable: true });
const exit = process.exit.bind(process);
const seatBelt = fastenSeatBelt(process.argv[2] ?? 'file:///dev/null/');
const handlers = new Map<string, Handler>();
let current: { readonly id: string; readonly context: RunContext } | undefined;

host.on('data', createLineReader({ onLine: receive, onTooLong: exit, maxBytes: () => Number.POSITIVE_INFINITY }));
// The server is gone, however it went.
host.on('close', () => exit(0));
host.on('error', () => exit(0));
write('{"type":"ready"}');

function write(line: string): void {
  host.write(`${line}\n`);
}

function receive(line: string): void {
  const message: ToChild = parse(line);
  if (message.type === 'run') void execute(message);
  else if (current?.id !== message.run) return;
  else if (message.type === 'cancel') current.context.cancel();
  else current.context.answer(message.call, message.type === 'answer' ? message.response : message.error);
}

async function execute(message: RunMessage): Promise<void> {
  const context = createRunContext(message, write);
  current = { id: message.run, context };
  let line: string;
  try {
    const handler = handlers.get(message.handler) ?? (await load(message.handler));
    line = describeOutput(message, await handler(message.input, context.context));
  } catch (cause) {
    const type = cause instanceof Rejection ? 'rejected' : 'failed';
    line = stringify({ type, run: message.run, message: messageOf(cause) });
  }
  context.end();
  current = undefined;
  seatBelt.endTimers();
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

function describeOutput({ run, maxOutputBytes }: RunMessage, output: unknown): string {
  let json: string | undefined;
  try {
    json = stringify(output);
  } catch (cause) {
    throw new Error(`The output is not JSON: ${messageOf(cause).split('\n')[0]}`);
  }
  if (json === undefined) throw new Error(`The output is not JSON: it is of the type ${typeof output}.`);
  const bytes = Buffer.byteLength(json);
  if (bytes > maxOutputBytes)
    throw new Error(`The output is ${bytes} bytes of JSON; at most ${maxOutputBytes} may be.`);
  return `{"type":"returned","run":"${run}","output":${json}}`;
}

function messageOf(cause: unknown): string {
  try {
    return String(cause instanceof Error ? cause.message : cause).slice(0, bounds.messageCharacters);
  } catch {
    return 'The handler threw a value that has no text.';
  }
}
