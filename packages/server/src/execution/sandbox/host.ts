import type { Socket } from 'node:net';
import { describeEnd, keepLastWords } from './last-words.ts';
import type { MemoryWatch } from './memory-watch.ts';
import { createMessageOutbox } from './message-outbox.ts';
import { bounds, createLineReader } from './protocol.ts';
import { readFromChild } from './read-from-child.ts';
import { createRun, type Run, type RunEnded } from './run.ts';
import { newRunKey } from './run-key.ts';
import type { SandboxOutcome, SandboxTask } from './sandbox.ts';
import type { Child } from './spawn-child.ts';

/** One child process: it runs one task at a time, in the order they are handed over, and ends when it breaks a rule. */
export interface Host {
  /** Of the process that runs handlers; undefined when it could not be started. */
  pid(): number | undefined;
  /** Resolves when the child can take a run; false when it ended before. */
  readonly ready: Promise<boolean>;
  /** Resolves when the process is gone and its streams are closed, with its last words (stderr and stdout, bounded). */
  readonly ended: Promise<string>;
  isAlive(): boolean;
  /** Whether a run may be handed over behind those it has. */
  isOpen(): boolean;
  /** Never rejects; resolves when the run is over: answered, its process gone, or given back without having begun. */
  run(assignment: Assignment): Promise<RunEnded>;
  /** Asks for every run back that has not begun, and is not open until the first one is over. */
  recall(): void;
  /** `outcome` is that of the run in progress, if there is one and nothing has decided it yet. */
  kill(outcome?: SandboxOutcome): void;
}

export interface Assignment {
  readonly task: SandboxTask;
  readonly handlerUrl: string;
  readonly signal: AbortSignal;
  readonly hiddenFolders: readonly string[];
}

/** Beside a run's output and requests: logs, progress, envelopes. */
const spareBytes = 1024 * 1024;
const idleAllowance = { messages: 100, bytes: 64 * 1024 };

export function createHost({ process: child, pid, hasRunOutOfMemory }: Child, watch: MemoryWatch): Host {
  // Descriptor 3 is made by `spawnChild` as a pipe, which Node represents by a Socket.
  const channel = child.stdio[3] as Socket;
  const lastWords = keepLastWords(child);
  const outbox = createMessageOutbox(channel);
  /** In the order of the child. Only the first can have begun: the child answers a run before it begins the next. */
  const runs: Run[] = [];
  let hideLast: Run['hide'] | undefined;
  let alive = child.pid !== undefined;
  let isTrusted = true;
  let isRecalling = false;
  /** The first run waits or is slow: nothing more may be put behind it. */
  let isHeld = false;
  let allowance = { ...idleAllowance };
  let memoryMb = 0;
  let maxLineBytes: number = bounds.requestBytes;
  let stopWatching: (() => void) | undefined;
  const { promise: ready, resolve: setReady } = Promise.withResolvers<boolean>();

  function kill(outcome?: SandboxOutcome): void {
    if (outcome !== undefined) runs[0]?.doom(outcome);
    alive = false;
    child.kill('SIGKILL');
  }

  function breakRule(what: string): void {
    kill({ kind: 'crashed', message: `The plugin's process was ended: it ${what}.` });
    isTrusted = false;
  }

  function receive(line: string): void {
    allowance.messages -= 1;
    const message = readFromChild(line);
    if (allowance.messages < 0) breakRule('sent too many messages');
    else if (message === undefined) breakRule('sent what is not a message');
    else if (message.type === 'ready') setReady(true);
    else if (message.type === 'recalled') giveBack();
    else {
      const [first] = runs;
      // What names another run is late or forged; it counts, and nothing else.
      if (first !== undefined && 'run' in message && message.run === first.id && first.receive(message)) next();
    }
  }

  /** What is printed may come after the answer: it is looked at again when the next run is over. */
  function hideWordsOf(run: Run | undefined): void {
    if (hideLast !== undefined) lastWords.hide(hideLast);
    hideLast = run?.hide;
    if (hideLast !== undefined) lastWords.hide(hideLast);
  }

  /** The first run is over: the child begins the one behind it. */
  function next(): void {
    hideWordsOf(runs.shift());
    isHeld = false;
    allowance = { ...idleAllowance };
    for (const run of runs) allow(run);
    runs[0]?.begin();
    if (runs.length > 0) return;
    stopWatching?.();
    stopWatching = undefined;
  }

  /** What the child may send until the run is over. */
  function allow({ limits }: Run): void {
    allowance.messages += idleAllowance.messages + bounds.logLines + bounds.progressReports + limits.maxRequests;
    allowance.bytes += limits.maxOutputBytes + limits.maxRequests * bounds.requestBytes + spareBytes;
  }

  function giveBack(): void {
    isRecalling = false;
    for (const run of runs.splice(1)) run.giveBack();
  }

  const readChunk = createLineReader({
    onLine: (line) => isTrusted && receive(line),
    onTooLong: () => breakRule('sent more than the limit of its output'),
    maxBytes: () => maxLineBytes,
  });
  // Also what comes after it was killed: the answers it had sent by then tell which run it had begun.
  channel.on('data', (chunk: Buffer) => {
    allowance.bytes -= chunk.length;
    if (!isTrusted) return;
    if (allowance.bytes < 0) breakRule('sent more data than it may');
    else readChunk(chunk);
  });
  // The process ended while something was being written to it; `close` says so.
  channel.on('error', () => {});
  child.on('error', () => {});

  const ended = new Promise<string>((resolve) => {
    child.once('close', (code, signal) => {
      alive = false;
      setReady(false);
      stopWatching?.();
      giveBack();
      const last = runs.shift();
      hideWordsOf(last);
      last?.end(describeEnd(lastWords.text(), { code, signal, memoryMb, hasRunOutOfMemory: hasRunOutOfMemory() }));
      resolve(lastWords.text());
    });
  });

  function run({ task, handlerUrl, signal, hiddenFolders }: Assignment): Promise<RunEnded> {
    const { maxOutputBytes, maxRequests } = task.limits;
    const id = newRunKey();
    const send = outbox.send;
    const run = createRun({ id, task, send, kill: () => kill(), signal, onWaiting: recall, hiddenFolders });
    runs.push(run);
    allow(run);
    memoryMb = task.limits.memoryMb;
    maxLineBytes = Math.max(maxOutputBytes, bounds.requestBytes) + 4096;
    stopWatching ??= watch.watch({
      pid: pid() ?? 0,
      limitMb: memoryMb,
      onExceeded: () => kill({ kind: 'out_of_memory', limitMb: memoryMb }),
    });
    if (runs.length === 1) run.begin();
    const { input, pluginId: plugin = '' } = task;
    send({ type: 'run', run: id, handler: handlerUrl, plugin, input, maxOutputBytes, maxRequests });
    return run.ended;
  }

  function recall(): void {
    if (runs.length === 0) return;
    isHeld = true;
    if (isRecalling || runs.length === 1) return;
    isRecalling = true;
    outbox.send({ type: 'recall' });
  }

  return {
    pid,
    ready,
    ended,
    isAlive: () => alive,
    isOpen: () => alive && !isRecalling && !isHeld,
    run,
    recall,
    kill,
  };
}
