import { MessageChannel, Worker } from 'node:worker_threads';
import { moduleUrl } from '../../kernel/process/module-path.ts';
import type { Numbered, PageAnswer, PageRequest, PageThreadStart } from './page-protocol.ts';

/** A thread that answers requests in their order. */
export interface PageThread {
  /** @throws what the request has thrown in the thread, or when the thread has ended */
  ask(request: PageRequest): Promise<PageAnswer>;
  close(): Promise<void>;
}

/** @param onEnd called when the thread ends, also after an error */
export function openPageThread(memory: number, onEnd: () => void): PageThread {
  const { port1: ownPort, port2: theirs } = new MessageChannel();
  const workerData: PageThreadStart = { port: theirs, memory };
  const worker = new Worker(moduleUrl(import.meta, './page-thread'), {
    workerData,
    transferList: [theirs],
    name: 'vector-pages',
  });
  const waiting = new Map<number, { resolve: (answer: PageAnswer) => void; reject: (error: unknown) => void }>();
  let lastId = 0;
  let failure: Error | undefined;

  function end(reason: Error): void {
    failure ??= reason;
    ownPort.close();
    for (const { reject } of waiting.values()) reject(failure);
    waiting.clear();
    onEnd();
  }
  const exited = new Promise<void>((resolve) => {
    worker.once('exit', () => {
      end(new Error('The thread of the vector index has ended.'));
      resolve();
    });
  });
  worker.once('error', (cause) => end(new Error('The thread of the vector index has failed.', { cause })));
  ownPort.on('message', ({ id, message }: Numbered<PageAnswer>) => {
    const waiter = waiting.get(id);
    waiting.delete(id);
    if (message.kind === 'failed') waiter?.reject(message.error);
    else waiter?.resolve(message);
  });

  function ask(message: PageRequest): Promise<PageAnswer> {
    if (failure !== undefined) return Promise.reject(failure);
    lastId += 1;
    const id = lastId;
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      ownPort.postMessage({ id, message } satisfies Numbered<PageRequest>);
    });
  }
  return {
    ask,
    async close() {
      if (failure === undefined) await ask({ kind: 'close' }).catch(() => undefined);
      await exited;
    },
  };
}
