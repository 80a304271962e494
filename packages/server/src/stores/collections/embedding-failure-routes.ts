import { collectionOperations } from '@quartermaster/contract/operations';
import { listEnvelope, successEnvelope } from '../../platform/envelope.ts';
import type { App } from '../../platform/http/app.ts';
import type { Guard } from '../../platform/http/guard.ts';
import { withScope } from '../../platform/with-scope.ts';
import type { EmbeddingFailures } from './embedding-failures.ts';

interface EmbeddingFailureRoutesDeps {
  readonly guard: Guard;
  readonly failures: EmbeddingFailures;
}

const url = '/v1/collections/:collection_id/embedding_failures';

/** The failed texts of a collection over HTTP. Source: docs/contract.md "Collections, records, chunks". */
export function embeddingFailureRoutes(app: App, { guard, failures }: EmbeddingFailureRoutesDeps): void {
  app.get(url, withScope(guard, collectionOperations.listEmbeddingFailures), async (request) => {
    const { projectId } = guard.callerOf(request);
    return listEnvelope(await failures.list(projectId, request.params.collection_id, request.query));
  });
  app.post(`${url}/retry`, withScope(guard, collectionOperations.retryEmbeddingFailures), async (request) => {
    const { projectId } = guard.callerOf(request);
    return successEnvelope(await failures.retry(projectId, request.params.collection_id));
  });
}
