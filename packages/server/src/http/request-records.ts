import { infoLines, type Logger } from '../kernel/logger.ts';
import { clientAddress, identityFields } from '../kernel/request-identity.ts';
import type { App } from './app.ts';
import type { RequestMetrics } from './request-metrics.ts';

/** Where the answers of one address are told. */
export interface RequestRecords {
  readonly logger: Logger;
  /** `files` or `plugins`. */
  readonly address: string;
  readonly metrics: RequestMetrics;
}

/** All answers of one route with one status. */
interface Kind {
  readonly record: (seconds: number) => void;
  /** Members of the log line, as JSON. */
  readonly fields: string;
}

/**
 * One metric and, at level info, one log line a request: who made it, and the route's pattern; never the query, a body or a
 * header.
 * What is the same for all answers of one kind is prepared once.
 */
export function recordRequests(app: App, { logger, address, metrics }: RequestRecords): void {
  const lines = infoLines(logger);
  const kinds = new Map<string, Kind>();

  function kindOf(method: string, route: string, status: number): Kind {
    const name = `${method} ${status} ${route}`;
    let kind = kinds.get(name);
    if (kind === undefined) {
      const fields = { address, method, route, status };
      kind = { record: metrics.recorder(fields), fields: JSON.stringify(fields).slice(1, -1) };
      kinds.set(name, kind);
    }
    return kind;
  }

  app.addHook('onResponse', (request, reply, done) => {
    const ms = reply.elapsedTime;
    const kind = kindOf(knownMethod(request.method), request.routeOptions.url ?? '(none)', reply.statusCode);
    kind.record(ms / 1000);
    // A request id has no character that JSON would escape: it is ours, or has passed the pattern of ours.
    lines?.write(
      `{"level":"info","time":${Date.now()},${kind.fields},"request_id":"${request.id}","client":"${clientAddress(request)}"${identityFields(request)},"ms":${Math.round(ms * 100) / 100},"msg":"answered"}\n`,
    );
    done();
  });
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Node accepts 34 methods: those that no API uses share one series of the metrics. */
function knownMethod(method: string): string {
  return methods.has(method) ? method : 'other';
}
