import type { Logger } from '../log/logger.ts';
import { clientAddress, identityOf } from '../log/request-identity.ts';
import type { App } from './app.ts';
import type { RequestMetrics } from './request-metrics.ts';

/** The destinations for the records of one address. */
export interface RequestRecords {
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
