import { infoLines, type Logger } from '../kernel/logger.ts';
import { Counter, Histogram, type Registry } from '../kernel/metrics.ts';
import type { App } from './app.ts';

export interface RequestRecords {
  readonly logger: Logger;
  /** `files` or `plugins`. */
  readonly address: string;
  readonly metrics: RequestMetrics;
}

/** All answers of one route with one status. */
interface AnswerKind {
  readonly count: () => void;
  readonly time: (seconds: number) => void;
  /** Members of the log line, as JSON. */
  readonly fields: string;
}

export interface RequestMetrics {
  readonly requests: Counter<'address' | 'method' | 'route' | 'status'>;
  readonly seconds: Histogram<'address' | 'method' | 'route'>;
}

export function createRequestMetrics(registry: Registry): RequestMetrics {
  return {
    requests: new Counter({
      name: 'quartermaster_http_requests_total',
      help: 'Requests answered, by address, method, route and status.',
      labelNames: ['address', 'method', 'route', 'status'],
      registers: [registry],
    }),
    seconds: new Histogram({
      name: 'quartermaster_http_request_seconds',
      help: 'Seconds from the first byte of a request to the last of its answer.',
      labelNames: ['address', 'method', 'route'],
      buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30, 300],
      registers: [registry],
    }),
  };
}

/**
 * One metric and, at level info, one log line a request: the route's pattern, never the query, a body or a header.
 * Looking the metrics up by their labels and serialising the line cost more than the rest, so both are prepared once
 * for each kind of answer.
 */
export function recordRequests(app: App, { logger, address, metrics }: RequestRecords): void {
  const lines = infoLines(logger);
  const kinds = new Map<string, AnswerKind>();

  function kindOf(method: string, route: string, status: number): AnswerKind {
    const name = `${method} ${status} ${route}`;
    let kind = kinds.get(name);
    if (kind === undefined) {
      const requests = metrics.requests.labels({ address, method, route, status });
      const seconds = metrics.seconds.labels({ address, method, route });
      const fields = JSON.stringify({ address, method, route, status }).slice(1, -1);
      kind = { count: () => requests.inc(), time: (value) => seconds.observe(value), fields };
      kinds.set(name, kind);
    }
    return kind;
  }

  app.addHook('onResponse', (request, reply, done) => {
    const ms = reply.elapsedTime;
    const kind = kindOf(request.method, request.routeOptions.url ?? '(none)', reply.statusCode);
    kind.count();
    kind.time(ms / 1000);
    // A request id has no character that JSON would escape: it is ours, or has passed the pattern of ours.
    lines?.write(
      `{"level":"info","time":${Date.now()},${kind.fields},"request_id":"${request.id}","ms":${Math.round(ms * 100) / 100},"msg":"answered"}\n`,
    );
    done();
  });
}
