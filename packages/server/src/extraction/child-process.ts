import type { Readable, Writable } from 'node:stream';
import type { SpawnSettings } from '../isolation/spawn-isolated.ts';
import type { Logger } from '../kernel/logger.ts';
import { explainExit } from './explain-exit.ts';
import { createFrameReader, type FromChild, parseFromChild } from './protocol.ts';
import { spawnReader } from './spawn-reader.ts';

/** A running child and the server's ends of its pipes. */
export interface Child {
  /** Of the process that reads; undefined until it is known. */
  pid(): number | undefined;
  readonly input: Writable;
  /** Who is told what comes next; at once when the child has ended. */
  listen(listener: Listener): void;
  isAlive(): boolean;
  /** Resolves when the process is gone and its pipes are closed. */
  kill(): Promise<void>;
}

export interface Listener {
  message(message: FromChild): void;
  ended(why: ReturnType<typeof explainExit>): void;
}

const stderrKept = 4000;

export interface ChildOptions {
  readonly memoryMb: number;
  readonly cpuSeconds: number;
  readonly program?: string;
  readonly isolation: SpawnSettings;
  readonly logger: Logger;
}

export function startChild(options: ChildOptions): Child {
  const { process, pid, kill } = spawnReader(options, options.isolation);
  // All three are made as pipes by \`spawnReader\`.
  const [stdin, stdout, stderrOf] = process.stdio as unknown as [Writable, Readable, Readable];
  let listener: Listener | undefined;
  let why: ReturnType<typeof explainExit> | undefined;
  let [ready, sentInvalid] = [false, false];
  let stderr = '';

  const gone = new Promise<void>((resolve) => {
    process.once('close', (code, signal) => {
      why = explainExit({ code, signal, stderr, ready, sentInvalid });
      if (stderr !== '') options.logger.warn({ stderr, code, signal }, 'a process that reads documents has ended');
      listener?.ended(why);
      resolve();
    });
  });
  // `close` follows, also when there was nothing to start.
  process.on('error', (cause) => {
    stderr += String(cause);
  });
  stdin.on('error', () => {});
  stderrOf.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-stderrKept);
  });
  const read = createFrameReader((_kind, content) => {
    const message = parseFromChild(content);
    if (message.type === 'ready') ready = true;
    else listener?.message(message);
  });
  stdout.on('data', (bytes: Buffer) => {
    try {
      read(bytes);
    } catch (cause) {
      sentInvalid = true;
      options.logger.error({ cause: String(cause) }, 'extraction worker sent an invalid message');
      kill();
    }
  });

  return {
    pid,
    input: stdin,
    listen: (next) => {
      listener = next;
      if (why !== undefined) next.ended(why);
    },
    isAlive: () => why === undefined,
    kill: () => {
      kill();
      // One that bubblewrap was just starting survives it: it ends when its input does.
      stdin.destroy();
      return gone;
    },
  };
}
