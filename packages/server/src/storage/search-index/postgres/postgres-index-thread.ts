import { MessageChannel, Worker } from 'node:worker_threads';
import type { Kysely } from 'kysely';
import { moduleUrl } from '../../../platform/server-process/module-path.ts';
import type { Tables } from '../../database/tables.ts';
import type { MergeThread } from '../index-merger.ts';
import type {
  IndexMessage,
  IndexProcedure,
  IndexProcedures,
  IndexRequest,
  IndexStart,
  ReadAnswer,
  ReadRequest,
} from './postgres-index-protocol.ts';
import { readForThread } from './postgres-segment-rows.ts';

/** Performs the reads of a merge or a check. */
export type ReadSegments = (request: ReadRequest) => Promise<unknown>;

/** A thread that works on segments. It starts with the first call. */
export interface IndexThread {
  /** Starts the thread before the first call, which then does not wait for it. */
  start(): void;
  call<Name extends IndexProcedure>(
    procedure: Name,
    argument: IndexProcedures[Name]['argument'],
    read?: ReadSegments,
  ): Promise<IndexProcedures[Name]['result']>;
  /** Ends the thread. Calls under way fail. */
  close(): Promise<void>;
}

interface Call {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly read: ReadSegments | undefined;
  /** Why a read has failed. The caller gets this error, not the thread's description of it. */
  failure?: unknown;
}

/**
 * After its end for lack of memory, the thread starts again with the next call.
 * @param cacheBytes bytes that the caches of questions hold at most
 */
export function createIndexThread(name: string, cacheBytes?: number): IndexThread {
  const calls = new Map<number, Call>();
  let lastId = 0;
  let running: { readonly worker: Worker; readonly ended: Promise<void> } | undefined;

  function start() {
    const { port1: ownPort, port2: answers } = new MessageChannel();
    const answerCount = new Int32Array(new SharedArrayBuffer(4));
    const workerData: IndexStart = { answers, answerCount, ...(cacheBytes === undefined ? {} : { cacheBytes }) };
    const worker = new Worker(moduleUrl(import.meta, './postgres-index-worker'), {
      workerData,
      transferList: [answers],
      name,
    });
    const reply = (answer: ReadAnswer) => {
      ownPort.postMessage(answer);
      Atomics.add(answerCount, 0, 1);
      Atomics.notify(answerCount, 0);
    };
    worker.on('message', (message: IndexMessage) => receive(message, reply));
    const fail = (reason: Error) => {
      if (running?.worker === worker) running = undefined;
      ownPort.close();
      for (const [id, call] of calls) {
        calls.delete(id);
        call.reject(reason);
      }
    };
    worker.once('error', (cause) => fail(new Error(`The thread ${name} has failed.`, { cause })));
    const ended = new Promise<void>((resolve) => {
      worker.once('exit', () => {
        fail(new Error(`The thread ${name} has ended.`));
        resolve();
      });
    });
    ownPort.unref();
    return { worker, ended };
  }
  function receive(message: IndexMessage, reply: (answer: ReadAnswer) => void): void {
    const call = calls.get(message.id);
    if (call === undefined) return;
    if ('read' in message) {
      answerRead(call, message.read).then(reply);
      return;
    }
    calls.delete(message.id);
    if ('result' in message) call.resolve(message.result);
    else call.reject(call.failure ?? new Error(message.failure));
  }
  const provide = () => {
    running ??= start();
    return running;
  };
  return {
    start: () => void provide(),
    call: (procedure, argument, read) =>
      new Promise((resolve, reject) => {
        const { worker } = provide();
        const id = ++lastId;
        calls.set(id, { resolve: resolve as Call['resolve'], reject, read });
        worker.postMessage({ id, procedure, argument } satisfies IndexRequest);
      }),
    async close() {
      const ending = running;
      running = undefined;
      await ending?.worker.terminate();
      await ending?.ended;
    },
  };
}

async function answerRead(call: Call, request: ReadRequest): Promise<ReadAnswer> {
  try {
    if (call.read === undefined) throw new Error('this call of the index thread reads nothing');
    return { result: await call.read(request) };
  } catch (error) {
    call.failure = error;
    return null;
  }
}

/** Merges in a thread of its own, whose reads go through the pool. */
export function createPostgresMergeThread(db: Kysely<Tables>): MergeThread {
  const thread = createIndexThread('index-merger');
  const read = (request: Parameters<typeof readForThread>[1]) => readForThread(db, request);
  return {
    async start(parts) {
      await thread.call('startMerge', parts, read);
    },
    next: (pages) => thread.call('continueMerge', pages, read),
    close: () => thread.close(),
  };
}
