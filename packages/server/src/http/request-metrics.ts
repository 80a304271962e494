import type { Counter, Registry } from '../kernel/metrics.ts';

/** Counts answers. One recorder for each kind of answer, kept by whoever answers. */
export interface RequestMetrics {
  recorder(kind: AnswerKind): (seconds: number) => void;
  /** Counts a connection that was ended because its client did not read. */
  readerEnded(address: string, reason: ReaderEnd): void;
}

/** `idle`: no progress for too long; `memory`: closed because too many bytes were waiting for clients. */
export type ReaderEnd = 'idle' | 'memory';

export interface AnswerKind {
  /** `files` or `plugins`. */
  readonly address: string;
  readonly method: string;
  /** The pattern of the path. */
  readonly route: string;
  readonly status: number;
}

/** Kinds of answers that are counted apart, in one process. Methods, routes and statuses are few: no service reaches this. */
export const maxRequestKinds = 10_000;
const other: AnswerKind = { address: 'other', method: 'other', route: 'other', status: 0 };

/** Upper bounds in seconds. */
const bounds = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30, 300];

interface Recorded extends AnswerKind {
  /** How many took at most so long as the bound; the last are those beyond every bound. */
  readonly counts: number[];
  sum: number;
}

/** What prom-client asks of a metric when it is scraped. */
interface MetricValue {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  readonly metricName?: string;
}

/**
 * The metrics of requests: numbers that are added up here and put into words when somebody asks. prom-client's own
 * counter and histogram look their labels up for each request, which took 3 µs of the 20 of a small answer.
 */
export function createRequestMetrics(registry: Registry): RequestMetrics {
  const all: Recorded[] = [];
  let others: Recorded | undefined;
  function countOthers(): Recorded {
    others ??= addRecorded(all, other);
    return others;
  }
  const requests = 'quartermaster_http_requests_total';
  const seconds = 'quartermaster_http_request_seconds';
  const readers = new Map<string, { readonly labels: Readonly<Record<string, string>>; value: number }>();
  register(registry, {
    name: requests,
    help: 'Requests answered, by address, method, route and status.',
    type: 'counter',
    labelNames: ['address', 'method', 'route', 'status'],
    values: () =>
      all.map(({ address, method, route, status, counts }) => ({
        labels: { address, method, route, status },
        value: counts.reduce((a, b) => a + b),
      })),
  });
  register(registry, {
    name: seconds,
    help: 'Seconds from the first byte of a request to the last of its answer.',
    type: 'histogram',
    labelNames: ['address', 'method', 'route', 'status'],
    values: () => all.flatMap((recorded) => histogramValues(seconds, recorded)),
  });
  register(registry, {
    name: 'quartermaster_http_readers_ended_total',
    help: 'Connections ended because their clients did not read, by address and reason (idle, memory).',
    type: 'counter',
    labelNames: ['address', 'reason'],
    values: () => [...readers.values()].map((one) => ({ ...one })),
  });
  return {
    readerEnded(address, reason) {
      const name = `${address} ${reason}`;
      const counted = readers.get(name) ?? { labels: { address, reason }, value: 0 };
      counted.value += 1;
      readers.set(name, counted);
    },
    recorder(kind) {
      const recorded = all.length < maxRequestKinds ? addRecorded(all, kind) : countOthers();
      return (value) => {
        let bucket = 0;
        while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket++;
        recorded.counts[bucket] = (recorded.counts[bucket] ?? 0) + 1;
        recorded.sum += value;
      };
    },
  };
}

function addRecorded(all: Recorded[], kind: AnswerKind): Recorded {
  const recorded: Recorded = { ...kind, counts: bounds.map(() => 0).concat(0), sum: 0 };
  all.push(recorded);
  return recorded;
}

function histogramValues(name: string, { address, method, route, status, counts, sum }: Recorded): MetricValue[] {
  const labels = { address, method, route, status };
  let total = 0;
  const buckets = counts.map((count, index) => {
    total += count;
    return { labels: { ...labels, le: bounds[index] ?? '+Inf' }, value: total, metricName: `${name}_bucket` };
  });
  return [
    ...buckets,
    { labels, value: sum, metricName: `${name}_sum` },
    { labels, value: total, metricName: `${name}_count` },
  ];
}

interface OwnMetric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'histogram';
  readonly labelNames: readonly string[];
  readonly values: () => MetricValue[];
}

function register(registry: Registry, { name, help, type, labelNames, values }: OwnMetric): void {
  const get = async () => ({ name, help, type, values: values() });
  const metric = { name, help, type, labelNames, aggregator: 'sum', get };
  // The registry asks a metric for nothing but its name and `get`; its type names prom-client's own classes only.
  registry.registerMetric(metric as unknown as Counter);
}
