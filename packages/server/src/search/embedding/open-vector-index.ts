import { MessageChannel, Worker } from 'node:worker_threads';
import { moduleUrl } from '../../kernel/process/module-path.ts';
import type { LoadCodes, VectorIndex, VectorSpace } from './vector-index.ts';
import type { IndexAnswer, IndexRequest, IndexStart } from './vector-index-protocol.ts';

export interface VectorIndexDeps {
  readonly load: LoadCodes;
  /** The maximum number of bytes that the codes of all collections take in memory. */
  readonly memory: number;
}

type RequestBody = IndexRequest extends infer Each ? (Each extends IndexRequest ? Omit<Each, 'id'> : never) : never;

/**
 * Opens an index whose thread starts with the first search. Codes are loaded at the first search and updated
 * afterwards.
 */
export function openVectorIndex({ load, memory }: VectorIndexDeps): VectorIndex {
  let thread: IndexThread | undefined;
  /** The last change of each space that the thread has loaded. */
  const known = new Map<string, number>();
  let loading = Promise.resolve();

  function threadNow(): IndexThread {
    thread ??= openThread(memory, () => {
      thread = undefined;
      known.clear();
    });
    return thread;
  }

  async function bringUp(space: VectorSpace): Promise<boolean> {
    const name = nameOf(space);
    const width = Math.ceil(space.dimensions / 8);
    const from = known.get(name) ?? space.firstChange;
    if (from >= space.lastChange) return true;
    for await (const page of load(space, from)) {
      const { dropped = [] } = await threadNow().ask({ kind: 'add', space: name, width, ...page });
      for (const gone of dropped) known.delete(gone);
      if (dropped.includes(name)) return false;
    }
    known.set(name, space.lastChange);
    return true;
  }

  /** Loads one space at a time. Loading one may evict another, which must not be half loaded then. */
  function follow(space: VectorSpace): Promise<boolean> {
    if (known.get(nameOf(space)) === space.lastChange) return Promise.resolve(true);
    const next = loading.then(() => bringUp(space));
    loading = next.then(
      () => undefined,
      () => undefined,
    );
    return next;
  }

  return {
    async nearest(space, query, count) {
      if (!(await follow(space))) return undefined;
      const { seqs } = await threadNow().ask({ kind: 'nearest', space: nameOf(space), query, count });
      return seqs === null || seqs === undefined ? [] : [...seqs];
    },
    async close() {
      await loading;
      await thread?.close();
    },
  };
}

/** The vectors of another model form another space. */
const nameOf = (space: VectorSpace) => `${space.collectionId} ${space.firstChange}`;

interface IndexThread {
  ask(request: RequestBody): Promise<{ dropped?: readonly string[]; seqs?: Float64Array | null }>;
  close(): Promise<void>;
}

function openThread(memory: number, onEnd: () => void): IndexThread {
  const { port1: ownPort, port2: theirs } = new MessageChannel();
  const workerData: IndexStart = { port: theirs, memory };
  const worker = new Worker(moduleUrl(import.meta, './vector-index-worker'), {
    workerData,
    transferList: [theirs],
    name: 'vector-index',
  });
  const waiting = new Map<number, { resolve: (answer: IndexAnswer) => void; reject: (error: Error) => void }>();
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
  ownPort.on('message', (answer: IndexAnswer) => {
    waiting.get(answer.id)?.resolve(answer);
    waiting.delete(answer.id);
  });

  function ask(request: RequestBody): Promise<IndexAnswer> {
    if (failure !== undefined) return Promise.reject(failure);
    lastId += 1;
    const id = lastId;
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      ownPort.postMessage({ ...request, id });
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
