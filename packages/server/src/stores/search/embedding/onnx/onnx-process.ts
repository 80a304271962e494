import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { frameKinds } from '../../../../platform/processes/frames.ts';
import type { MachineIsolation } from '../../../../platform/processes/isolation/find-isolation.ts';
import { type IsolatedChild, spawnIsolated } from '../../../../platform/processes/isolation/spawn-isolated.ts';
import { channelFiles, superviseProcess } from '../../../../platform/processes/supervised-process.ts';
import { watchMemory } from '../../../../platform/processes/usage-watch.ts';
import { modulePath } from '../../../../platform/server-process/module-path.ts';
import { EmbedderUnavailable } from '../embedder.ts';
import { decodeMessage, encodeMessage, type FromChild, type StartMessage, type ToChild } from './onnx-protocol.ts';

export interface OnnxProcessOptions extends OnnxPlan {
  /** The time limit of the start, in milliseconds. */
  readonly startTimeoutMs: number;
  /** The time limit without a message while there is work, in milliseconds. */
  readonly timeoutMs: number;
}

export interface EmbedRequest {
  readonly texts: readonly string[];
  readonly urgent: boolean;
}

type Vectors = ReadonlyArray<Float32Array | null>;

/** A model in a separate process. */
export interface OnnxProcess {
  readonly pid: number;
  /** Rejects with an Error for the operator when the model cannot be used. */
  readonly ready: Promise<{ readonly dimensions: number; readonly fingerprint: string }>;
  readonly isAlive: () => boolean;
  /** @throws EmbedderUnavailable, or the reason of the aborted signal */
  embed(request: EmbedRequest, signal: AbortSignal): Promise<Vectors>;
  /** Resolves when the process has ended. */
  close(): Promise<void>;
}

interface Waiting {
  readonly resolve: (vectors: Vectors) => void;
  readonly reject: (error: unknown) => void;
}

/** The maximum bytes of a message: a batch of long texts, or its vectors. The program at the other end is trusted. */
const longestFrame = 2 ** 28;

export function startOnnxProcess(options: OnnxProcessOptions): OnnxProcess {
  const { start, memoryMb } = options;
  const ready = Promise.withResolvers<{ dimensions: number; fingerprint: string }>();
  ready.promise.catch(() => undefined); // callers that need it handle its rejection
  const waiting = new Map<number, Waiting>();
  let isReady = false;
  let reason: string | undefined;
  let lastId = 0;
  let timer: NodeJS.Timeout | undefined;

  function end(why: string): void {
    reason ??= why;
    child.kill();
  }
  /** Restarts the time limit while requests are pending. */
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
      settle(message.id)?.reject(new EmbedderUnavailable(`The local model failed: ${message.message}`));
    watch();
  }
  function settle(id: number): Waiting | undefined {
    const found = waiting.get(id);
    waiting.delete(id);
    return found;
  }

  const child = superviseProcess(spawnOnnx(options), {
    onFrame: (_kind, content) => {
      try {
        receive(decodeMessage<FromChild>(content));
      } catch (cause) {
        end(`the local model sent an invalid message: ${cause}`);
      }
    },
    maxFrameBytes: () => longestFrame,
    onFrameTooLong: () => end('the local model sent too long a message'),
  });
  const unwatch = watchMemory(child.pid, memoryMb, () =>
    end(`the local model took more than ${memoryMb} MiB of memory`),
  );
  async function finish(): Promise<void> {
    const { code, signal, printed } = await child.exited;
    clearTimeout(timer);
    unwatch();
    const how = signal === null ? `with code ${code}` : `by ${signal}`;
    reason ??= `the process of the local model ended ${how}${printed === '' ? '' : `: ${printed.trim()}`}`;
    ready.reject(new Error(reason));
    for (const { reject } of waiting.values()) reject(new EmbedderUnavailable(reason));
    waiting.clear();
  }
  const gone = finish();
  const send = (message: ToChild) => child.send(frameKinds.message, encodeMessage(message));
  send(start);
  watch();

  return {
    pid: child.pid() ?? -1,
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
      end('The embedder is closed.');
      await gone;
    },
  };
}

const entry = modulePath(import.meta, './onnx-child');

interface OnnxPlan {
  readonly start: StartMessage;
  readonly memoryMb: number;
  readonly machine: MachineIsolation['machine'];
}

/**
 * Starts the process that holds the model. Its environment is empty. It may read its program, the runtime and the
 * folder of the model. The permissions of Node.js do not bind native code such as the runtime. They are a second
 * barrier only, because the operator supplies the model. The process runs as the server's user, who owns the model's
 * files.
 */
function spawnOnnx({ start: { runtime, model }, memoryMb, machine }: OnnxPlan): IsolatedChild {
  const folders = [dirname(dirname(entry)), dirname(runtime), dirname(model.modelFile), dirname(model.tokenizerFile)];
  return spawnIsolated(
    {
      entry,
      args: [],
      flags: ['--allow-addons', '--disable-warning=SecurityWarning', '--disable-warning=ExperimentalWarning'],
      readable: [...new Set([...folders, ...channelFiles].map((path) => realpathSync(path)))],
      folder: '/',
      // The runtime maps far more memory than it uses, so only the memory watch bounds it.
      limits: { fileMb: 0, descriptors: 1024, tasks: 1024 },
      memoryMb,
      niceness: 5,
    },
    { user: undefined, hasUtilLinux: machine.settings.hasUtilLinux, isSandboxed: false, keepsCapabilities: true },
  );
}
