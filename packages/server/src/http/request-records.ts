import { Counter, Histogram, type Registry } from '../kernel/metrics.ts';
import type { App } from './app.ts';

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
 * Looking the metrics up by their labels costs more than counting, so each route keeps its own.
 */
export function recordRequests(app: App, address: string, metrics: RequestMetrics): void {
  const kept = new Map<string, { count: () => void; time: (seconds: number) => void }>();

  function metricsOf(method: string, route: string, status: number) {
    const name = `${method} ${status} ${route}`;
    let found = kept.get(name);
    if (found === undefined) {
      const requests = metrics.requests.labels({ address, method, route, status });
      const seconds = metrics.seconds.labels({ address, method, route });
      found = { count: () => requests.inc(), time: (value) => seconds.observe(value) };
      kept.set(name, found);
    }
    return found;
  }

  app.addHook('onResponse', (request, reply, done) => {
    const { method, id } = request;
    const route = request.routeOptions.url ?? '(none)';
    const ms = reply.elapsedTime;
    const own = metricsOf(method, route, reply.statusCode);
    own.count();
    own.time(ms / 1000);
    const line = { request_id: id, method, route, status: reply.statusCode, ms: Math.round(ms * 100) / 100 };
    request.log.info(line, 'answered');
    done();
  });
}
