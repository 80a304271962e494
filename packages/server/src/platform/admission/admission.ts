import { Counter, Gauge, type Registry } from '../metrics.ts';
import { Problem } from '../problem.ts';
import { type AdmissionQueue, createAdmissionQueue, type QueueOptions } from './admission-queue.ts';
import { keyless } from './owner.ts';
import { createPlaces, type PlaceOptions, type Places } from './places.ts';
import { type QueueDescription, type QueueName, queues } from './queues.ts';
import { type OpenShareCounts, openMemoryCounts, type ShareCounts } from './share-counts.ts';

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
   * Opens the counts of a pool that selects its next waiting entry by itself, with `createFairOrder`.
   * @param waiting returns the number of waiting entries
   */
  pool(name: QueueName, waiting: () => number): PoolCounts;
}

export interface PoolCounts {
  readonly running: ShareCounts;
  /** Opens the counts of one part of the pool, such as the processes of one bundle for one project. */
  openPart(part: string): ShareCounts;
  countRefused(): void;
}

export interface AdmissionDeps {
  readonly metrics?: Registry;
  /** Default: the counts of this process. */
  readonly openCounts?: OpenShareCounts;
  /** The running nodes of the store that serve an address. Default: this one. */
  readonly nodes?: (address: 'files' | 'plugins') => number;
}

interface OpenQueue {
  readonly queue: QueueName;
  readonly running: () => number;
  readonly waiting: () => number;
}

export function createAdmission(deps: AdmissionDeps = {}): Admission {
  const { metrics, openCounts = openMemoryCounts, nodes = () => 1 } = deps;
  const opened: OpenQueue[] = [];
  const countRefused = metrics === undefined ? () => {} : observe(opened, metrics);

  function open(queue: QueueName, counts: ShareCounts, waiting = () => 0): { readonly countRefused: () => void } {
    opened.push({ queue, running: () => counts.of(anyOwner).all, waiting });
    return { countRefused: () => countRefused(queue) };
  }

  return {
    queue(name, options = {}) {
      const { atOnce, waiting, keepsPlaces = false }: QueueDescription = queues[name];
      const running = openCounts(name, 'running');
      const listed = { permits: Number(atOnce), waiting: Number(waiting), keepsPlaces, refuse: () => queueFull(name) };
      const { countRefused } = open(name, running, () => queue.waiting());
      const queue = createAdmissionQueue({ ...listed, ...options }, { running, countRefused });
      return queue;
    },
    places(queue, options = {}) {
      const { atOnce, dividedBy }: QueueDescription = queues[queue];
      const places = Number(atOnce);
      const counts = { places: openCounts(queue, 'places'), sizes: openCounts(queue, 'size') };
      const opened = open(queue, counts.places);
      const shared = { ...counts, ...opened, nodes: () => (dividedBy === undefined ? 1 : nodes(dividedBy)) };
      return createPlaces({ places, refuse: () => queueFull(queue), ...options }, shared);
    },
    pool(queue, waiting) {
      const running = openCounts(queue, 'running');
      const openPart = (part: string) => openCounts(`${queue} ${part}`, 'running');
      return { running, openPart, ...open(queue, running, waiting) };
    },
  };
}

/** Any owner, because only the total of all owners is read. */
const anyOwner = keyless;

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
    help: 'Entries that a full queue refused, by queue. The table of docs/reference/admission.md gives the response.',
    labelNames: ['queue'],
    registers: [metrics],
  });
  return (queue) => refused.inc({ queue });
}

function queueFull(queue: QueueName): Problem {
  const message = `Too many requests of this project or key wait in the queue "${queue}" (${queues[queue].entries}). Retry later.`;
  return new Problem('TOO_MANY_REQUESTS', message, { retryAfter: 5 });
}
