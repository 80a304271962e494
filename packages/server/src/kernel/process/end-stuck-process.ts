import { write } from 'node:fs';
import { type Debugger, type Runtime, Session } from 'node:inspector';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { openRequestRing } from '../request-ring.ts';
import { stuckThreadKey, type WatchdogStart } from './watchdog.ts';

/** Milliseconds for each step: interrupting the main thread, writing the log line, and ending the process. */
const stepTimeoutMs = 10_000;
const maxFrames = 50;
const maxRequests = 10;

interface Stuck {
  readonly request?: number | undefined;
  /** One line for each function, innermost first, as in the stack of an Error. */
  readonly stack: readonly string[];
}

/** Logs the blocked event loop and ends the process. Called in the watchdog's thread. */
export async function endStuckProcess({ ring, logFd }: WatchdogStart, silentSeconds: number): Promise<void> {
  const session = new Session();
  const { request, stack = [] } = (await within(interrupt(session))) ?? {};
  const requests = openRequestRing(ring).unanswered();
  const line = {
    level: 'fatal',
    time: Date.now(),
    silent_seconds: silentSeconds,
    request: request === undefined ? undefined : requests.get(request),
    unanswered: [...requests.values()].slice(0, maxRequests),
    stack: stack.length === 0 ? undefined : stack.join('\n'),
    msg: 'event loop blocked',
  };
  if (logFd !== null) await within(promisify(write)(logFd, `${JSON.stringify(line)}\n`));
  if (stack.length > 0) call(session, 'end()');
  await pause(stepTimeoutMs);
  // Native code cannot be interrupted.
  process.kill(process.pid, 'SIGKILL');
}

/** Pauses the main thread and leaves it paused. Never resolves while it executes native code. */
async function interrupt(session: Session): Promise<Stuck> {
  session.connectToMainThread();
  const urls = new Map<string, string>();
  session.on('Debugger.scriptParsed', ({ params }) => urls.set(params.scriptId, params.url));
  const { promise, resolve } = Promise.withResolvers<Debugger.PausedEventDataType>();
  session.once('Debugger.paused', ({ params }) => resolve(params));
  session.post('Debugger.enable');
  session.post('Debugger.pause');
  const { callFrames } = await promise;
  const stack = callFrames.slice(0, maxFrames).map(({ functionName, location }) => {
    const { scriptId, lineNumber, columnNumber = 0 } = location;
    return `    at ${functionName || '<anonymous>'} (${urls.get(scriptId) ?? ''}:${lineNumber + 1}:${columnNumber + 1})`;
  });
  const request: unknown = (await call(session, 'report()')).value;
  return { request: typeof request === 'number' ? request : undefined, stack };
}

/** Calls a method of {@link StuckThread}. */
function call(session: Session, method: string): Promise<Runtime.RemoteObject> {
  const expression = `globalThis[Symbol.for(${JSON.stringify(stuckThreadKey)})].${method}`;
  return new Promise((resolve, reject) => {
    session.post('Runtime.evaluate', { expression }, (error, answer) =>
      error === null ? resolve(answer.result) : reject(error),
    );
  });
}

async function within<T>(work: Promise<T>): Promise<T | undefined> {
  return Promise.race([work.catch(() => undefined), pause(stepTimeoutMs, undefined)]);
}
