import { availableParallelism } from 'node:os';
import { createIndexThread, type IndexThread } from './postgres-index-thread.ts';

/** Each thread has its own caches. */
const mostThreads = Math.min(2, availableParallelism());
/** Milliseconds without a question after which a further thread ends, with its caches. */
const idleMs = 60_000;

/** Threads that rank questions. */
export interface QuestionThreads {
  /** Starts the first thread before the first question, which then does not wait for it. */
  start(): void;
  /** Works with one thread: the first that is idle, otherwise the one with the fewest questions. */
  use<Result>(work: (thread: IndexThread) => Promise<Result>): Promise<Result>;
  /** Ends the threads. None starts afterwards, because it would keep the process alive. */
  close(): Promise<void>;
}

interface Options {
  readonly most?: number;
  readonly idle?: number;
  readonly open?: typeof createIndexThread;
}

/**
 * A further thread starts when all others rank a question, and ends when it is idle. A process with one question at a time
 * therefore has one thread and one cache.
 */
export function createQuestionThreads(
  cacheBytes?: number,
  { most = mostThreads, idle = idleMs, open = createIndexThread }: Options = {},
): QuestionThreads {
  const first = { thread: open('search', cacheBytes), questions: 0, ending: undefined as NodeJS.Timeout | undefined };
  const further = Array.from({ length: most - 1 }, () => ({ ...first, thread: open('search', cacheBytes) }));
  const threads = [first, ...further];
  let isClosed = false;
  return {
    start() {
      if (!isClosed) first.thread.start();
    },
    async use(work) {
      if (isClosed) throw new Error('The threads that rank questions are closed.');
      const chosen = threads.reduce((best, each) => (each.questions < best.questions ? each : best));
      clearTimeout(chosen.ending);
      chosen.questions += 1;
      try {
        return await work(chosen.thread);
      } finally {
        chosen.questions -= 1;
        if (chosen !== first && chosen.questions === 0) {
          chosen.ending = setTimeout(() => void chosen.thread.close(), idle).unref();
        }
      }
    },
    async close() {
      isClosed = true;
      await Promise.all(threads.map(({ thread }) => thread.close()));
    },
  };
}
