import { EvaluationCreate } from '@quartermaster/contract';
import { chunkOperations } from '@quartermaster/contract/operations';
import { whileConnected } from '../../../platform/client-gone.ts';
import { listEnvelope, successEnvelope } from '../../../platform/envelope.ts';
import type { App } from '../../../platform/http/app.ts';
import type { Guard } from '../../../platform/http/guard.ts';
import { fileReachOf } from '../../../platform/permissions.ts';
import { warningsOf } from '../../../platform/validation/ignored-members.ts';
import { withScope } from '../../../platform/with-scope.ts';
import { dropNulls } from '../route-parts.ts';
import type { Evaluations } from './evaluations.ts';

export interface EvaluationRoutesDeps {
  readonly guard: Guard;
  readonly evaluations: Evaluations;
}

/** Evaluations over HTTP. Source: docs/contract.md "Collections, records, chunks". */
export function evaluationRoutes(app: App, { guard, evaluations }: EvaluationRoutesDeps): void {
  app.get(
    '/v1/collections/:collection_id/evaluations',
    withScope(guard, chunkOperations.listEvaluations),
    async (request) => {
      const { projectId } = guard.callerOf(request);
      const items = await evaluations.list(projectId, request.params.collection_id);
      return listEnvelope({ items, hasMore: false });
    },
  );
  app.post(
    '/v1/collections/:collection_id/evaluations',
    { ...withScope(guard, chunkOperations.evaluateCollection), preValidation: dropNulls },
    (request, reply) =>
      whileConnected(reply, async (signal) => {
        const { projectId, keyId, permissions } = guard.callerOf(request);
        const { collection_id: collectionId } = request.params;
        const place = { projectId, keyId, collectionId, reach: fileReachOf(permissions) };
        const data = await evaluations.run(place, request.body, signal);
        const { num_questions, num_first } = data;
        const details = { num_questions, num_first };
        await request.server.audit.record(request, { action: 'collection.evaluated', id: collectionId, details });
        return { ...successEnvelope(data), ...warningsOf(EvaluationCreate, request.body) };
      }),
  );
}
