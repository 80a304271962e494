import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createNewId } from '../identifier.ts';
import { createLogger } from '../log/logger.ts';
import { Problem } from '../problem.ts';
import { type Job, type Lease, LeaseLost, WorkerStopping } from './job.ts';
import { type JobControl, openWorker, type WorkerOptions } from './worker.ts';

/** A running job, which the test ends. */
interface Performing {
  readonly job: Job;
  readonly control: JobControl;
  readonly end: PromiseWithResolvers<void>;
}

const day = 86_400_000;

/** Opens a worker over a list of jobs. It searches only when it is woken. */
function openTestWorker(t: TestContext, ids: readonly string[], more: Partial<WorkerOptions<Job>> = {}) {
  const waiting = [...ids];
  const performing = new Map<string, Performing>();
  const settled: Array<[id: string, reason: unknown]> = [];
  const worker = openWorker<Job>({
    name: 'tests',
    concurrency: 2,
    claim: async ({ token }: Lease) => {
      const id = waiting.shift();
      return id === undefined ? undefined : { id, token, attempt: 1 };
    },
    handle: (job, control) => {
      const end = Promise.withResolvers<void>();
      performing.set(job.id, { job, control, end });
      control.signal.addEventListener('abort', () => end.reject(new Error('cut off')));
      return {
        perform: () => end.promise,
        settle: async (reason) => void settled.push([job.id, reason]),
        renew: async () => true,
      };
    },
    leaseMs: day,
    pollMs: day,
    clock: { now: () => 0 },
    newId: createNewId(),
    logger: createLogger('silent'),
    ...more,
  });
  t.after(() => worker.close());
  const until = async (isTrue: () => boolean) => {
    while (!isTrue()) {
      t.signal.throwIfAborted();
      await new Promise(setImmediate);
    }
  };
  return { worker, waiting, performing, settled, until };
}

test('a worker performs as many concurrent jobs as it may, and claims the next when one ends', async (t) => {
  const { performing, until } = openTestWorker(t, ['a', 'b', 'c']);
  await until(() => performing.size === 2);
  await new Promise(setImmediate);
  assert.deepEqual([...performing.keys()], ['a', 'b']);
  performing.get('a')?.end.resolve();
  await until(() => performing.size === 3);
});

test('a worker that may not claim leaves the jobs until it is woken again', async (t) => {
  let mayClaim = false;
  const { worker, waiting, performing, until } = openTestWorker(t, ['a'], { mayClaim: async () => mayClaim });
  await new Promise(setImmediate);
  assert.deepEqual(waiting, ['a']);
  mayClaim = true;
  worker.wake();
  await until(() => performing.has('a'));
});

test('a job that fails is settled with its error, and one that was stopped with the reason', async (t) => {
  const { performing, settled, until } = openTestWorker(t, ['a', 'b']);
  await until(() => performing.size === 2);
  const [error, reason] = [new Error('on fire'), new Error('too late')];
  performing.get('a')?.end.reject(error);
  performing.get('b')?.control.stop(reason);
  await until(() => settled.length === 2);
  assert.deepEqual(settled, [
    ['a', error],
    ['b', reason],
  ]);
});

test('a worker that closes requeues its jobs and claims no others', async (t) => {
  const { worker, waiting, settled, performing, until } = openTestWorker(t, ['a', 'b', 'c']);
  await until(() => performing.size === 2);
  await worker.close();
  assert.deepEqual(
    settled.map(([id, reason]) => [id, reason instanceof WorkerStopping]),
    [
      ['a', true],
      ['b', true],
    ],
  );
  assert.deepEqual(waiting, ['c']);
});

test('a job whose lease is lost stops, and nothing is stored about it', async (t) => {
  const ended: string[] = [];
  const { worker, performing, settled, until } = openTestWorker(t, ['a'], {
    handle: (job, control) => {
      const end = Promise.withResolvers<void>();
      performing.set(job.id, { job, control, end });
      control.signal.addEventListener('abort', () => end.reject(control.signal.reason));
      return {
        perform: () => end.promise,
        settle: async (reason) => void settled.push([job.id, reason]),
        renew: async () => false,
      };
    },
    onEnded: ({ id }) => ended.push(id),
  });
  await until(() => performing.has('a'));
  worker.recheck('another');
  await new Promise(setImmediate);
  assert.deepEqual(ended, []);
  worker.recheck('a');
  await until(() => ended.length === 1);
  assert.ok(performing.get('a')?.control.signal.reason instanceof LeaseLost);
  assert.deepEqual(settled, []);
});

test('a worker that cannot store the end of a job retries, and claims nothing until it succeeds', async (t) => {
  const tries: number[] = [];
  const { worker, waiting, performing, until } = openTestWorker(t, ['a'], {
    pollMs: 1,
    handle: (job, control) => {
      const end = Promise.withResolvers<void>();
      performing.set(job.id, { job, control, end });
      if (job.id === 'a') end.reject(new Error('cut off'));
      return {
        perform: () => end.promise,
        settle: async () => {
          tries.push(waiting.length);
          // Not at the first attempt, because the search that claimed the job may still be running.
          if (tries.length === 2) {
            waiting.push('b');
            worker.wake();
          }
          if (tries.length < 4) throw new Problem('SERVICE_UNAVAILABLE', 'away', { retryAfter: 1 });
        },
      };
    },
  });
  await until(() => performing.has('b'));
  assert.deepEqual(tries, [0, 0, 1, 1], 'the other job waits');
  performing.get('b')?.end.resolve();
});

test('a search that fails is repeated when the worker is woken', async (t) => {
  let searches = 0;
  const { worker, until } = openTestWorker(t, [], {
    claim: async () => {
      searches += 1;
      throw new Error('away');
    },
  });
  await until(() => searches === 1);
  worker.wake();
  await until(() => searches === 2);
});
