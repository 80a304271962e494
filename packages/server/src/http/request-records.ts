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

/** One metric and, at level info, one log line a request: the route's pattern, never the query, a body or a header. */
export function recordRequests(app: App, address: string, metrics: RequestMetrics): void {
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? '(none)';
    const labels = { address, method: request.method, route };
    metrics.requests.inc({ ...labels, status: reply.statusCode });
    metrics.seconds.observe(labels, reply.elapsedTime / 1000);
    request.log.info(
      { method: request.method, route, status: reply.statusCode, ms: Math.round(reply.elapsedTime * 100) / 100 },
      'answered',
    );
  });
}
