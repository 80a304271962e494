import { watchMemory } from '../../kernel/watch-memory.ts';
import { EmbedderUnavailable } from '../embedder.ts';
import type { FromChild, StartMessage, ToChild } from './onnx-protocol.ts';
import { spawnOnnx } from './spawn-onnx.ts';

export interface OnnxProcessOptions {
  readonly start: StartMessage;
  /** Milliseconds until it is ready. */
  readonly startTimeoutMs: number;
  /** Milliseconds without a sign of life while there is work. */
  readonly timeoutMs: number;
  readonly memoryMb: number;
}

export interface EmbedWish {
  readonly texts: readonly string[];
  readonly urgent: boolean;
}

type Vectors = ReadonlyArray<Float32Array | null>;

/** A model in a process of its own. */
export interface OnnxProcess {
  readonly pid: number;
  /** Rejects with an Error for the operator when the model cannot be used. */
  readonly ready: Promise<{ readonly dimensions: number; readonly fingerprint: string }>;
  readonly isAlive: () => boolean;
  /** @throws EmbedderUnavailable, or what aborted the signal. */
  embed(wish: EmbedWish, signal: AbortSignal): Promise<Vectors>;
  /** Resolves when the process is gone. */
  close(): Promise<void>;
}

interface Waiting {
  readonly resolve: (vectors: Vectors) => void;
  readonly reject: (error: unknown) => void;
}

const stderrKept = 2000;

export function startOnnxProcess(options: OnnxProcessOptions): OnnxProcess {
  const { start, memoryMb } = options;
  const child = spawnOnnx(start);
  const ready = Promise.withResolvers<{ dimensions: number; fingerprint: string }>();
  ready.promise.catch(() => undefined); // whoever needs it awaits it, too
  const waiting = new Map<number, Waiting>();
  let isReady = false;
  let reason: string | undefined;
  let stderr = '';
  let lastId = 0;
  let timer: NodeJS.Timeout | undefined;

  function end(why: string): void {
    reason ??= why;
    child.kill('SIGKILL');
  }
  /** It has so long from now on, as long as anything is wanted of it. */
  function watch(): void {
    clearTimeout(timer);
    if (isReady && waiting.size === 0) return;
    const limitMs = isReady ? options.timeoutMs : options.startTimeoutMs;
    timer = setTimeout(() => end(`the local model gave no sign of life for ${limitMs} ms`), limitMs);
  }
  function receive(message: FromChild): void {
    if (message.type === 'unfit') reason ??= message.message;
    if (message.type === 'ready') {
      isReady = true;
      ready.resolve(message);
    }
    if (message.type === 'vectors') settle(message.id)?.resolve(message.vectors);
    if (message.type === 'failed')
      settle(message.id)?.reject(new EmbedderUnavailable(`the local model failed: ${message.message}`));
    watch();
  }
  function settle(id: number): Waiting | undefined {
    const found = waiting.get(id);
    waiting.delete(id);
    return found;
  }

  const unwatch = watchMemory(
    () => child.pid,
    memoryMb,
    () => end(`the local model took more than ${memoryMb} MiB of memory (QUARTERMASTER_EMBEDDING_MEMORY_MB)`),
  );
  const gone = new Promise<void>((resolve) => {
    const finish = (how: string) => {
      clearTimeout(timer);
      unwatch();
      reason ??= `the process of the local model ended ${how}${stderr === '' ? '' : `: ${stderr.trim()}`}`;
      ready.reject(new Error(reason));
      for (const { reject } of waiting.values()) reject(new EmbedderUnavailable(reason));
      waiting.clear();
      resolve();
    };
    child.once('close', (code, signal) => finish(signal === null ? `with code ${code}` : `by ${signal}`));
    child.once('error', (error) => finish(`before it began, ${error.message}`));
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-stderrKept);
  });
  child.on('message', (message) => receive(message as FromChild)); // our own program is at the other end
  const send = (message: ToChild) => child.send(message, () => undefined); // an end is noticed by `close`
  send(start);
  watch();

  return {
    pid: child.pid ?? -1,
    ready: ready.promise,
    isAlive: () => reason === undefined,
    async embed({ texts, urgent }, signal) {
      signal.throwIfAborted();
      if (reason !== undefined) throw new EmbedderUnavailable(reason);
      lastId += 1;
      const id = lastId;
      const { promise, resolve, reject } = Promise.withResolvers<Vectors>();
      waiting.set(id, { resolve, reject });
      const cancel = () => {
        settle(id)?.reject(signal.reason);
        send({ type: 'cancel', id });
      };
      signal.addEventListener('abort', cancel, { once: true });
      send({ type: 'embed', id, urgent, texts });
      if (waiting.size === 1) watch();
      try {
        return await promise;
      } finally {
        signal.removeEventListener('abort', cancel);
      }
    },
    async close() {
      end('the embedder was closed');
      await gone;
    },
  };
}
