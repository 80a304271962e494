import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import type { MemoryWatch } from './memory-watch.ts';
import { bounds, createLineReader, readFromChild, type ToChild } from './protocol.ts';
import { createRun, type Run } from './run.ts';
import type { SandboxOutcome, SandboxTask } from './sandbox.ts';

/** One child process: it runs one task at a time and ends when it breaks a rule. */
export interface Host {
  /** Of the process; undefined when it could not be started. */
  readonly pid: number | undefined;
  /** Resolves when the child can take a run; false when it ended before. */
  readonly ready: Promise<boolean>;
  /** Resolves when the process is gone and its streams are closed, with its last words (stderr and stdout, bounded). */
  readonly ended: Promise<string>;
  isAlive(): boolean;
  /** Never rejects; resolves when the run is over: answered, or its process gone. */
  run(assignment: Assignment): Promise<SandboxOutcome>;
  /** `outcome` is that of the run in progress, if there is one and nothing has decided it yet. */
  kill(outcome?: SandboxOutcome): void;
}

export interface Assignment {
  readonly task: SandboxTask;
  readonly handlerUrl: string;
  readonly signal: AbortSignal;
  readonly hiddenFolders: readonly string[];
}

const keptOutputBytes = 2048;
/** Beside a run's output and requests: logs, progress, envelopes. */
const spareBytes = 1024 * 1024;
const idleAllowance = { messages: 100, bytes: 64 * 1024 };

export function createHost(child: ChildProcess, watch: MemoryWatch): Host {
  // Descriptor 3 is made by `spawnChild` as a pipe, which Node represents by a Socket.
  const channel = child.stdio[3] as Socket;
  const tail = keepTail(child);
  let alive = child.pid !== undefined;
  let current: Run | undefined;
  let allowance = { ...idleAllowance };
  let memoryMb = 0;
  let maxLineBytes: number = bounds.requestBytes;
  let setReady: (ready: boolean) => void;
  const ready = new Promise<boolean>((resolve) => {
    setReady = resolve;
  });

  function kill(outcome?: SandboxOutcome): void {
    if (outcome !== undefined) current?.doom(outcome);
    alive = false;
    child.kill('SIGKILL');
  }

  function breakRule(what: string): void {
    kill({ kind: 'crashed', message: `The plugin's process was ended: it ${what}.` });
  }

  function send(message: ToChild): void {
    if (alive) channel.write(`${JSON.stringify(message)}\n`);
  }

  function receive(line: string): void {
    allowance.messages -= 1;
    const message = readFromChild(line);
    if (allowance.messages < 0) breakRule('sent too many messages');
    else if (message === undefined) breakRule('sent what is not a message');
    else if (message.type === 'ready') setReady(true);
    // What names another run is late or forged; it counts, and nothing else.
    else if (message.run === current?.id) current.receive(message);
  }

  const readChunk = createLineReader({
    onLine: (line) => alive && receive(line),
    onTooLong: () => breakRule('sent more than the limit of its output'),
    maxBytes: () => maxLineBytes,
  });
  channel.on('data', (chunk: Buffer) => {
    allowance.bytes -= chunk.length;
    if (!alive) return;
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
      current?.end(describeEnd(tail(), { code, signal, memoryMb }));
      resolve(tail());
    });
  });

  async function run({ task, handlerUrl, signal, hiddenFolders }: Assignment): Promise<SandboxOutcome> {
    const { maxOutputBytes, maxRequests } = task.limits;
    memoryMb = task.limits.memoryMb;
    const id = randomBytes(16).toString('base64url');
    maxLineBytes = Math.max(maxOutputBytes, bounds.requestBytes) + 4096;
    allowance = {
      messages: idleAllowance.messages + bounds.logLines + bounds.progressReports + maxRequests,
      bytes: maxOutputBytes + maxRequests * bounds.requestBytes + spareBytes,
    };
    current = createRun({ id, task, send, kill, signal, hiddenFolders });
    const stopWatching = watch.watch({
      pid: child.pid ?? 0,
      limitMb: memoryMb,
      onExceeded: () => kill({ kind: 'out_of_memory', limitMb: memoryMb }),
    });
    send({ type: 'run', run: id, handler: handlerUrl, input: task.input, maxOutputBytes, maxRequests });
    try {
      return await current.outcome;
    } finally {
      stopWatching();
      current = undefined;
      allowance = { ...idleAllowance };
    }
  }

  return { pid: child.pid, ready, ended, isAlive: () => alive, run, kill };
}

type End = { readonly code: number | null; readonly signal: NodeJS.Signals | null; readonly memoryMb: number };

function describeEnd(lastWords: string, { code, signal, memoryMb }: End): SandboxOutcome {
  // V8 says this before it aborts at the limit of its heap. A plugin that pretends mislabels its own run only.
  if (signal === 'SIGABRT' && lastWords.includes('heap out of memory')) {
    return { kind: 'out_of_memory', limitMb: memoryMb };
  }
  return { kind: 'crashed', message: `The plugin's process ended (${signal ?? `exit code ${code}`}).` };
}

/** Drains what the process prints, so that it never blocks, and keeps the last of it. */
function keepTail(child: ChildProcess): () => string {
  let kept = Buffer.alloc(0);
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('error', () => {});
    stream?.on('data', (chunk: Buffer) => {
      kept = Buffer.concat([kept, chunk.subarray(-keptOutputBytes)]).subarray(-keptOutputBytes);
    });
  }
  return () => kept.toString('utf8');
}
