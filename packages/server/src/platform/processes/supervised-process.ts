import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { modulePath } from '../server-process/module-path.ts';
import { createFrameReader, encodeFrame, type FrameKind, frameKinds } from './frames.ts';
import { channelDescriptor, type IsolatedChild } from './isolation/spawn-isolated.ts';

/**
 * The server's side of a confined process: its channel, its readiness, what it prints, and its end.
 *
 * A process is *starting* until its program has opened the channel, then *ready*. It is *alive* until it is killed or
 * exits; it has *exited* when it is gone and its streams are closed.
 */
export interface SupervisedProcess {
  /** The id of the process that runs the program; undefined until it is known, or when it could not be started. */
  pid(): number | undefined;
  /** Resolves with true when the program is loaded; with false when the process exited before. */
  readonly ready: Promise<boolean>;
  /** Resolves when the process has ended. Never rejects. */
  readonly exited: Promise<ProcessExit>;
  isAlive(): boolean;
  readonly output: OutputTail;
  /**
   * Frames of one turn of the event loop are sent together, up to sixteen.
   * @returns false when the process reads too slowly: wait for `drained` before the next frame
   */
  send(kind: FrameKind, content: Uint8Array | string): boolean;
  /** Resolves when the process has read what was sent, has exited, or the signal is aborted. */
  drained(signal: AbortSignal): Promise<void>;
  /** Kills the process and its process group immediately. */
  kill(): void;
}

export interface ProcessExit {
  /** Null when a signal ended it. Bubblewrap reports a signal as a code above 128. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Whether it ever became ready. */
  readonly wasReady: boolean;
  /** The end of its output, or the reason why it could not be started. */
  readonly printed: string;
  /** The kernel ended it at the memory limit of its control group. */
  readonly hasRunOutOfMemory: boolean;
}

export interface SupervisionOptions {
  /** Called for each message and each piece of bytes, also for what a killed process had sent before. */
  readonly onFrame: (kind: number, content: Buffer) => void;
  /** The maximum content length of a frame that is accepted now. */
  readonly maxFrameBytes: () => number;
  /** The process announced a longer frame: nothing more is read from it. */
  readonly onFrameTooLong: () => void;
}

/** The files, in addition to its own, that a program must read to open the channel. */
export const channelFiles: readonly string[] = ['./frames', './parent-channel'].map((name) =>
  modulePath(import.meta, name),
);

/**
 * When this many frames are waiting, they are sent before the end of the event loop turn, so that the process can start
 * working.
 */
const mostFramesTogether = 16;

export function superviseProcess(spawned: IsolatedChild, options: SupervisionOptions): SupervisedProcess {
  const { process: child } = spawned;
  // Node.js represents a descriptor that was spawned as a pipe by a Socket.
  const channel = child.stdio[channelDescriptor] as Socket;
  const output = keepOutputTail(child);
  const { promise: ready, resolve: setReady } = Promise.withResolvers<boolean>();
  const { promise: exited, resolve: setExited } = Promise.withResolvers<ProcessExit>();
  let isAlive = child.pid !== undefined;
  let wasReady = false;
  /** Frames of this turn of the event loop. One write costs less than a write for each frame. */
  let unsent: Buffer[] = [];
  let unsentBytes = 0;

  function receive(kind: number, content: Buffer): void {
    if (kind === frameKinds.ready && !wasReady) {
      wasReady = true;
      setReady(true);
    } else options.onFrame(kind, content);
  }

  /** @returns false when the process reads too slowly */
  function flush(): boolean {
    const [first, ...others] = unsent;
    const bytes = unsentBytes;
    unsent = [];
    unsentBytes = 0;
    if (first === undefined || !channel.writable) return true;
    return channel.write(others.length === 0 ? first : Buffer.concat([first, ...others], bytes));
  }

  function send(kind: FrameKind, content: Uint8Array | string): boolean {
    if (!channel.writable) return true;
    if (unsent.length === 0) setImmediate(flush);
    const frame = encodeFrame(kind, content);
    unsentBytes += frame.length;
    const isFull = unsent.push(frame) === mostFramesTogether || unsentBytes >= channel.writableHighWaterMark;
    return isFull ? flush() : !channel.writableNeedDrain;
  }

  // If the process ends during a write, its `close` event reports it.
  channel.on('error', () => {});
  channel.on(
    'data',
    createFrameReader({ onFrame: receive, maxBytes: options.maxFrameBytes, onTooLong: options.onFrameTooLong }),
  );
  // The event `close` follows even when the process could not be started.
  child.on('error', (cause) => output.append(String(cause)));
  // A child that bubblewrap is just starting survives bubblewrap. It exits when its channel closes.
  child.once('exit', () => channel.end());
  child.once('close', (code, signal) => {
    isAlive = false;
    setReady(false);
    setExited({ code, signal, wasReady, printed: output.text(), hasRunOutOfMemory: spawned.hasRunOutOfMemory() });
  });

  return {
    pid: spawned.pid,
    ready,
    exited,
    isAlive: () => isAlive,
    output,
    send,
    drained: (signal) => waitForDrain(channel, signal),
    kill: () => {
      isAlive = false;
      spawned.kill();
    },
  };
}

function waitForDrain(channel: Socket, signal: AbortSignal): Promise<void> {
  if (signal.aborted || channel.destroyed || !channel.writableNeedDrain) return Promise.resolve();
  return new Promise((resolve) => {
    const events = ['drain', 'close'] as const;
    const finish = (): void => {
      for (const event of events) channel.off(event, finish);
      signal.removeEventListener('abort', finish);
      resolve();
    };
    for (const event of events) channel.once(event, finish);
    signal.addEventListener('abort', finish, { once: true });
  });
}

type Redact = (text: string) => string;

/** The end of the output of a process. The text is untrusted. */
interface OutputTail {
  text(): string;
  /**
   * Removes secrets from what was printed so far. What a run prints may arrive after its answer: the function is
   * applied once more when the next one is given.
   */
  redact(redact: Redact): void;
  append(text: string): void;
}

const shownBytes = 4096;
/**
 * More bytes are held than are shown. A secret that is cut at the beginning cannot be recognised, but it is not shown.
 */
const heldBytes = 2 * shownBytes;

/** Reads both output streams of a process, so that it never blocks, and keeps the end of them. */
function keepOutputTail({ stdout, stderr }: ChildProcess): OutputTail {
  let held = Buffer.alloc(0);
  let latest: Redact | undefined;
  const append = (chunk: Buffer): void => {
    held = Buffer.concat([held, chunk.subarray(-heldBytes)]).subarray(-heldBytes);
  };
  const apply = (redact: Redact | undefined): void => {
    if (held.length > 0 && redact !== undefined) held = Buffer.from(redact(held.toString('utf8')));
  };
  for (const stream of [stdout, stderr]) stream?.on('error', () => {}).on('data', append);
  return {
    text: () => held.toString('utf8', Math.max(0, held.length - shownBytes)),
    redact: (redact) => {
      apply(latest);
      latest = redact;
      apply(latest);
    },
    append: (text) => append(Buffer.from(text)),
  };
}
