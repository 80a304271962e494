import { CollectionCreate, CollectionUpdate } from '@quartermaster/contract';
import { collectionOperations } from '@quartermaster/contract/operations';
import { acknowledgement, listEnvelope, successEnvelope } from '../../platform/envelope.ts';
import type { App } from '../../platform/http/app.ts';
import type { Guard } from '../../platform/http/guard.ts';
import { warningsOf } from '../../platform/validation/ignored-members.ts';
import { withScope } from '../../platform/with-scope.ts';
import { chunkRoutes } from './chunks/chunk-routes.ts';
import type { Chunks } from './chunks/chunks.ts';
import type { Collections } from './collections.ts';
import { embeddingFailureRoutes } from './embedding-failure-routes.ts';
import type { EmbeddingFailures } from './embedding-failures.ts';
import { evaluationRoutes } from './evaluations/evaluation-routes.ts';
import type { Evaluations } from './evaluations/evaluations.ts';
import { pageRoutes } from './pages/page-routes.ts';
import type { RecordPages } from './pages/record-pages.ts';
import { creationNotPermitted } from './problems.ts';
import type { DryRuns } from './records/dry-runs.ts';
import { recordActionRoutes, rowRoutes, textRoutes } from './records/record-action-routes.ts';
import type { RecordEvents } from './records/record-events.ts';
import { recordRoutes } from './records/record-routes.ts';
import type { RecordRows } from './records/record-rows.ts';
import type { RecordTexts } from './records/record-text.ts';
import type { Records } from './records/records.ts';
import { dropNulls } from './route-parts.ts';

export interface CollectionRoutesDeps {
  readonly guard: Guard;
  readonly collections: Collections;
  readonly failures: EmbeddingFailures;
  readonly records: Records;
  readonly chunks: Chunks;
  readonly events: RecordEvents;
  readonly rows: RecordRows;
  readonly texts: RecordTexts;
  readonly pages: RecordPages;
  readonly dryRuns: DryRuns;
  readonly evaluations: Evaluations;
}

/** Collections, records, chunks and chunk query over HTTP. Source: docs/contract.md "Collections, records, chunks". */
export function collectionRoutes(app: App, deps: CollectionRoutesDeps): void {
  collectionListRoutes(app, deps);
  collectionItemRoutes(app, deps);
  collectionChangeRoutes(app, deps);
  embeddingFailureRoutes(app, deps);
  recordRoutes(app, deps);
  recordActionRoutes(app, deps);
  rowRoutes(app, deps);
  textRoutes(app, deps);
  pageRoutes(app, deps);
  chunkRoutes(app, deps);
  evaluationRoutes(app, deps);
}

function collectionListRoutes(app: App, { guard, collections }: CollectionRoutesDeps): void {
  app.post(
    '/v1/collections',
    { ...withScope(guard, collectionOperations.createCollection), preValidation: dropNulls },
    async (request) => {
      const { projectId, permissions } = guard.callerOf(request);
      if (permissions.collections !== null) throw creationNotPermitted();
      const data = await collections.create(projectId, request.body);
      await request.server.audit.record(request, { action: 'collection.created', id: data.collection_id });
      return { ...successEnvelope(data), ...warningsOf(CollectionCreate, request.body) };
    },
  );
  app.get('/v1/collections', withScope(guard, collectionOperations.listCollections), async (request) => {
    const { projectId, permissions } = guard.callerOf(request);
    return listEnvelope(await collections.list(projectId, request.query, permissions.collections));
  });
}

const url = '/v1/collections/:collection_id';

function collectionItemRoutes(app: App, { guard, collections }: CollectionRoutesDeps): void {
  app.get(url, withScope(guard, collectionOperations.getCollection), async (request) => {
    const { projectId } = guard.callerOf(request);
    return successEnvelope(await collections.get(projectId, request.params.collection_id));
  });
  app.delete(url, withScope(guard, collectionOperations.deleteCollection), async (request) => {
    const id = request.params.collection_id;
    await collections.remove(guard.callerOf(request).projectId, id);
    await request.server.audit.record(request, { action: 'collection.deleted', id });
    return acknowledgement;
  });
}

function collectionChangeRoutes(app: App, { guard, collections }: CollectionRoutesDeps): void {
  app.post(
    url,
    { ...withScope(guard, collectionOperations.updateCollection), preValidation: dropNulls },
    async (request) => {
      const { projectId } = guard.callerOf(request);
      const id = request.params.collection_id;
      const data = await collections.update(projectId, id, request.body);
      const details = { fields: Object.keys(CollectionUpdate.properties).filter((name) => name in request.body) };
      await request.server.audit.record(request, { action: 'collection.changed', id, details });
      return { ...successEnvelope(data), ...warningsOf(CollectionUpdate, request.body) };
    },
  );
  app.post(
    `${url}/reembed`,
    { ...withScope(guard, collectionOperations.reembedCollection), preValidation: dropNulls },
    async (request) => {
      const { projectId } = guard.callerOf(request);
      return successEnvelope(await collections.reembed(projectId, request.params.collection_id, request.query));
    },
  );
}
