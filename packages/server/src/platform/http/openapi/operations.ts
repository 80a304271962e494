import { type Condition, serviceOperations } from '@quartermaster/contract/operations';
import type { onRequestHookHandler } from 'fastify';
import { acknowledgement, successEnvelope } from '../../envelope.ts';
import type { Registry } from '../../metrics.ts';
import type { App } from '../app.ts';
import { checkParts, type Parts } from '../readiness.ts';

export interface OperationsDeps {
  readonly version: string;
  readonly registry: Registry;
  /** Further facts of `/v1/health_check`, for example how plugins are isolated. */
  readonly facts: () => Readonly<Record<string, unknown>>;
  readonly parts: Parts;
  /** Problems of a service that still serves requests, for `/v1/ready?verbose`. */
  readonly conditions?: () => Promise<readonly Condition[]>;
  /** Guards `/metrics`. */
  readonly guardMetrics: onRequestHookHandler;
}

/** Registers health, readiness, version and metrics, which are the same on both addresses. */
export function operationRoutes(app: App, deps: OperationsDeps): void {
  app.get('/v1/health_check', { schema: serviceOperations.getHealth }, async () =>
    successEnvelope({ ...deps.facts() }),
  );
  readyRoute(app, deps);
  app.get('/v1/version', { schema: serviceOperations.getVersion }, async () =>
    successEnvelope({ version: deps.version }),
  );
  app.get('/metrics', { onRequest: deps.guardMetrics, schema: serviceOperations.getMetrics }, async (_request, reply) =>
    reply.type(deps.registry.contentType).send(await deps.registry.metrics()),
  );
}

function readyRoute(app: App, deps: OperationsDeps): void {
  app.get('/v1/ready', { schema: serviceOperations.getReadiness }, async (request) => {
    await checkParts(deps.parts);
    if (request.query.verbose === undefined) return acknowledgement;
    const conditions = (await deps.conditions?.()) ?? [];
    return successEnvelope({ parts: Object.keys(deps.parts), conditions: [...conditions] });
  });
}
