import type { Logger } from '../log/logger.ts';
import { clientAddress, identityOf } from '../log/request-identity.ts';
import { Counter, Histogram, type Registry } from '../metrics.ts';
import type { App } from './app.ts';

/** Counts responses and measures their duration in seconds. */
export interface RequestMetrics {
  record(kind: AnswerKind, seconds: number): void;
  /** Counts a connection that was closed because its client did not read. */
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

/**
 * The number of kinds of responses that one process counts separately. Methods, routes and statuses are few, so no
 * service reaches it.
 */
export const maxRequestKinds = 10_000;
const other: AnswerKind = { address: 'other', method: 'other', route: 'other', status: 0 };

/** Upper bounds in seconds. */
const buckets = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30, 300];

export function createRequestMetrics(registry: Registry): RequestMetrics {
  const labelNames = ['address', 'method', 'route', 'status'] as const;
  const registers = [registry];
  const requests = new Counter({
    name: 'quartermaster_http_requests_total',
    help: 'Requests by address, method, route and status.',
    labelNames,
    registers,
  });
  const duration = new Histogram({
    name: 'quartermaster_http_request_seconds',
    help: 'Seconds from the first byte of a request to the last byte of its response.',
    labelNames,
    buckets,
    registers,
  });
  const readers = new Counter({
    name: 'quartermaster_http_readers_ended_total',
    help: 'Connections closed because the client did not read, by address and reason (idle, memory).',
    labelNames: ['address', 'reason'] as const,
    registers,
  });
  const kinds = new Set<string>();

  /** Returns the labels of the kind, or those for all others when the limit is reached. */
  function labelsOf({ address, method, route, status }: AnswerKind) {
    const name = `${address} ${method} ${status} ${route}`;
    if (kinds.size < maxRequestKinds) kinds.add(name);
    return kinds.has(name) ? { address, method, route, status } : { ...other };
  }

  return {
    record(kind, seconds) {
      const labels = labelsOf(kind);
      requests.inc(labels);
      duration.observe(labels, seconds);
    },
    readerEnded: (address, reason) => readers.inc({ address, reason }),
  };
}

/** The destinations for the records of one address. */
interface RequestRecords {
  readonly logger: Logger;
  /** `files` or `plugins`. */
  readonly address: string;
  readonly metrics: RequestMetrics;
}

/**
 * Records one metric per request and, at level info, one log line with the caller and the route's pattern. It never
 * records the query, a body or a header.
 */
export function recordRequests(app: App, { logger, address, metrics }: RequestRecords): void {
  app.addHook('onResponse', (request, reply, done) => {
    const ms = reply.elapsedTime;
    const kind = {
      address,
      method: knownMethod(request.method),
      route: request.routeOptions.url ?? '(none)',
      status: reply.statusCode,
    };
    metrics.record(kind, ms / 1000);
    logger.info(
      {
        ...kind,
        request_id: request.id,
        client: clientAddress(request),
        ...identityOf(request),
        duration_ms: Math.round(ms * 100) / 100,
      },
      'request completed',
    );
    done();
  });
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Node accepts 34 methods. Those that no API uses share one series of the metrics. */
function knownMethod(method: string): string {
  return methods.has(method) ? method : 'other';
}
