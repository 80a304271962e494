import { Collection, CountedList, EmbeddingFailure, ListQuery, Success } from '@quartermaster/contract';
import { collectionOperations } from '@quartermaster/contract/operations';
import { Type } from 'typebox';
import { listEnvelope, successEnvelope } from '../../platform/envelope.ts';
import type { App } from '../../platform/http/app.ts';
import type { Guard } from '../../platform/http/guard.ts';
import type { EmbeddingFailures } from './embedding-failures.ts';
import { pathId } from './route-parts.ts';

interface EmbeddingFailureRoutesDeps {
  readonly guard: Guard;
  readonly failures: EmbeddingFailures;
}

const url = '/v1/collections/:collection_id/embedding_failures';
const params = Type.Object({ collection_id: pathId });

/** The failed texts of a collection over HTTP. Source: docs/contract.md "Collections, records, chunks". */
export function embeddingFailureRoutes(app: App, { guard, failures }: EmbeddingFailureRoutesDeps): void {
  app.get(
    url,
    {
      onRequest: guard.requires('collections:read'),
      schema: {
        ...collectionOperations.listEmbeddingFailures,
        params,
        querystring: ListQuery,
        response: { 200: CountedList(EmbeddingFailure) },
      },
    },
    async (request) => {
      const { projectId } = guard.callerOf(request);
      return listEnvelope(await failures.list(projectId, request.params.collection_id, request.query));
    },
  );
  app.post(
    `${url}/retry`,
    {
      onRequest: guard.requires('collections'),
      schema: { ...collectionOperations.retryEmbeddingFailures, params, response: { 200: Success(Collection) } },
    },
    async (request) => {
      const { projectId } = guard.callerOf(request);
      return successEnvelope(await failures.retry(projectId, request.params.collection_id));
    },
  );
}
