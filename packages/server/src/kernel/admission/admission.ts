import { Counter, Gauge, type Registry } from '../metrics.ts';
import { Problem } from '../problem.ts';
import { type AdmissionQueue, createAdmissionQueue, type QueueOptions } from './admission-queue.ts';
import { createPlaces, type PlaceOptions, type Places } from './places.ts';
import { type QueueDescription, type QueueName, queues } from './queues.ts';
import { type OpenShareCounts, openMemoryCounts } from './share-counts.ts';

/**
 * Admits the work of callers, in every queue by the same rules: fair shares by project, then by key. `queues` lists the
 * queues.
 */
export interface Admission {
  /** Opens a queue with waiting entries. Defaults come from `queues`. */
  queue(name: QueueName, options?: Partial<QueueOptions>): AdmissionQueue;
  /** Opens a queue whose entries hold a place. */
  places(name: QueueName, options?: Partial<PlaceOptions>): Places;
  /**
   * Reports the counts of a pool that selects its next waiting entry by itself, with `createFairOrder`.
   * @returns a function that counts a refused entry
   */
  pool(name: QueueName, counts: PoolCounts): () => void;
}

export interface PoolCounts {
  readonly running: () => number;
  readonly waiting: () => number;
}

export interface AdmissionDeps {
  readonly metrics?: Registry;
  /** Default: the counts of this process. */
  readonly openCounts?: OpenShareCounts;
}

interface OpenQueue extends PoolCounts {
  readonly queue: QueueName;
}

export function createAdmission({ metrics, openCounts = openMemoryCounts }: AdmissionDeps = {}): Admission {
  const opened: OpenQueue[] = [];
  const countRefused = metrics === undefined ? () => {} : observe(opened, metrics);

  function refuseWith<Args extends unknown[]>(
    queue: QueueName,
    refuse: (...args: Args) => Error = () => queueFull(queue),
  ) {
    return (...args: Args): Error => {
      countRefused(queue);
      return refuse(...args);
    };
  }

  return {
    queue(name, options = {}) {
      const { atOnce, waiting, keepsPlaces = false }: QueueDescription = queues[name];
      const running = openCounts(name, 'running');
      const listed = { permits: Number(atOnce), waiting: Number(waiting), keepsPlaces };
      const queue = createAdmissionQueue({ ...listed, ...options, refuse: refuseWith(name, options.refuse) }, running);
      opened.push({ queue: name, running: () => running.of(anyOwner).all, waiting: queue.waiting });
      return queue;
    },
    places(queue, options = {}) {
      const places = Number(queues[queue].atOnce);
      const counts = { places: openCounts(queue, 'places'), sizes: openCounts(queue, 'size') };
      opened.push({ queue, running: () => counts.places.of(anyOwner).all, waiting: () => 0 });
      return createPlaces({ places, ...options, refuse: refuseWith(queue, options.refuse) }, counts);
    },
    pool(queue, counts) {
      opened.push({ queue, ...counts });
      return () => countRefused(queue);
    },
  };
}

/** Any owner, because only the total of all owners is read. */
const anyOwner = { projectId: '', keyId: null };

function observe(opened: readonly OpenQueue[], metrics: Registry): (queue: QueueName) => void {
  const gauges = [
    ['running', 'Entries of each queue that run or hold a place.'],
    ['waiting', 'Entries of each queue that wait for their turn.'],
  ] as const;
  for (const [what, help] of gauges) {
    new Gauge({
      name: `quartermaster_queue_${what}`,
      help,
      labelNames: ['queue'],
      registers: [metrics],
      collect() {
        this.reset();
        for (const one of opened) this.inc({ queue: one.queue }, one[what]());
      },
    });
  }
  const refused = new Counter({
    name: 'quartermaster_queue_refused_total',
    help: 'Requests that a full queue refused with 429, by queue.',
    labelNames: ['queue'],
    registers: [metrics],
  });
  return (queue) => refused.inc({ queue });
}

function queueFull(queue: QueueName): Problem {
  const message = `Too many requests of this project or key wait in the queue "${queue}" (${queues[queue].entries}). Retry later.`;
  return new Problem('TOO_MANY_REQUESTS', message, { retryAfter: 5 });
}
