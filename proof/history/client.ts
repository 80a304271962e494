import type { Random } from '../support/random.ts';
import { describeContent, wordOf } from './content.ts';
import { fateOf, type History, type Operation, type Request } from './history.ts';
import { sendRequest, type Target } from './send-request.ts';

/** A client that uses both addresses at random and records every request and response. */
export interface Client {
  /** Sends one request and waits for its outcome. */
  act(target: Target): Promise<Operation>;
}

export interface ClientOptions {
  readonly history: History;
  readonly random: Random;
  /** A name that is unique among the clients of one store. */
  readonly name: string;
  /** The number of bytes of the largest upload. */
  readonly largestUpload?: number;
}

type Work = 'upload' | 'record' | 'run' | 'delete' | 'read';

/** Requests of each kind per hundred requests. */
const shares: Readonly<Record<Work, number>> = { upload: 40, record: 20, run: 15, delete: 15, read: 10 };
const draws = Object.entries(shares).flatMap(([work, share]) => Array.from({ length: share }, () => work as Work)); // its keys

/** Sends one request and records its outcome. */
export async function perform(history: History, target: Target, request: Request): Promise<Operation> {
  const operation = history.ask(request);
  history.answer(operation, await sendRequest(target, request));
  return operation;
}

export function createClient(options: ClientOptions): Client & { plan(work: Work): Request } {
  const { history, random, name, largestUpload = 300_000 } = options;
  const mine: Operation[] = [];
  const deletionRequested = new Set<string>();
  const seedBase = 1 + random.below(2 ** 24);
  let count = 0;

  const done = (what: Request['what']) => mine.filter((one) => one.request.what === what && fateOf(one) === 'done');
  /** Returns an id that this client created and has not tried to delete. */
  const existing = (what: Request['what']) => {
    const open = done(what).filter(({ answer }) => answer?.id !== undefined && !deletionRequested.has(answer.id));
    return random.pick(open);
  };

  function upload(): Request {
    const earlier = random.pick(done('upload'));
    if (earlier?.request.what === 'upload' && random.chance(0.15)) {
      // Repeats the content, half of the time with the same key and name.
      const { key, content } = earlier.request;
      if (key !== undefined && random.chance(0.5)) return earlier.request;
      return { what: 'upload', name: `${name}-${count}-again.txt`, content };
    }
    const bytes = random.chance(0.15) ? random.below(largestUpload) : random.below(9_000);
    const content = describeContent(seedBase + count, bytes);
    const key = random.chance(0.4) ? { key: `${name}-${count}` } : {};
    return { what: 'upload', name: `${name}-${count}.txt`, content, ...key };
  }

  function record(): Request {
    const collection = random.pick(done('create collection'))?.answer?.id;
    if (collection === undefined || random.chance(0.05)) return { what: 'create collection' };
    const source = existing('upload');
    if (source?.request.what !== 'upload' || source.request.content.bytes > 20_000 || random.chance(0.5)) {
      return { what: 'create record', collectionId: collection, word: `${name}w${count}` };
    }
    const word = wordOf(source.request.content.seed);
    return { what: 'create record', collectionId: collection, word, fileId: source.answer?.id ?? '' };
  }

  function run(): Request {
    const text = `${name}r${count}`;
    const plugin = random.chance(0.6) ? 'write' : 'read';
    const key = random.chance(0.5) ? { key: text } : {};
    return { what: random.chance(0.5) ? 'run' : 'start run', plugin, text, ...key };
  }

  function remove(): Request {
    const old = existing(random.chance(0.7) ? 'upload' : 'create record');
    const id = old?.answer?.id;
    if (old === undefined || id === undefined) return upload();
    deletionRequested.add(id);
    if (old.request.what !== 'create record') return { what: 'delete file', fileId: id };
    return { what: 'delete record', collectionId: old.request.collectionId, recordId: id };
  }

  function read(): Request {
    const file = existing('upload');
    if (file?.request.what !== 'upload') return upload();
    return { what: 'read file', fileId: file.answer?.id ?? '', sha256: file.request.content.sha256 };
  }

  const ways = { upload, record, run, delete: remove, read };
  const plan = (work: Work) => {
    count += 1;
    return ways[work]();
  };
  return {
    plan,
    act: async (target) => {
      const operation = await perform(history, target, plan(random.pick(draws) ?? 'upload'));
      mine.push(operation);
      return operation;
    },
  };
}
