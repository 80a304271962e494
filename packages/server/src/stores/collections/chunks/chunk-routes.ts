import { type Chunk, ChunkCreate, ChunkQuery, ChunkUpdate, CollectionsQuery } from '@quartermaster/contract';
import { chunkOperations } from '@quartermaster/contract/operations';
import type { FastifyRequest } from 'fastify';
import { whileConnected } from '../../../platform/client-gone.ts';
import { acknowledgement, listEnvelope, successEnvelope } from '../../../platform/envelope.ts';
import type { App } from '../../../platform/http/app.ts';
import type { Guard } from '../../../platform/http/guard.ts';
import type { Page } from '../../../platform/page.ts';
import { checkCollection } from '../../../platform/permissions.ts';
import { warningsOf } from '../../../platform/validation/ignored-members.ts';
import { withScope } from '../../../platform/with-scope.ts';
import { dropNulls } from '../route-parts.ts';
import type { ChunkKey } from './chunk-repository.ts';
import type { Chunks } from './chunks.ts';

export interface ChunkRoutesDeps {
  readonly guard: Guard;
  readonly chunks: Chunks;
}

const ofCollection = '/v1/collections/:collection_id/chunks';
const ofChunk = `${ofCollection}/:chunk_id` as const;

const withTotal = <Answer>(answer: Answer) => ({ ...answer, total_count: null });
const withCount = (page: Page<Chunk>) => ({ ...listEnvelope(page), total_count: page.total?.count ?? null });

/** Chunks and chunk query over HTTP. Source: docs/contract.md "Collections, records, chunks". */
export function chunkRoutes(app: App, deps: ChunkRoutesDeps): void {
  listRoutes(app, deps);
  createRoute(app, deps);
  queryRoute(app, deps);
  collectionsQueryRoute(app, deps);
  itemRoutes(app, deps);
  removeRoute(app, deps);
}

function keyOf(guard: Guard, request: FastifyRequest, params: { collection_id: string; chunk_id: string }): ChunkKey {
  const { projectId } = guard.callerOf(request);
  return { projectId, collectionId: params.collection_id, chunkId: params.chunk_id };
}

function listRoutes(app: App, { guard, chunks }: ChunkRoutesDeps): void {
  app.get(ofCollection, withScope(guard, chunkOperations.listChunks), async (request) => {
    const of = { projectId: guard.callerOf(request).projectId, collectionId: request.params.collection_id };
    return withCount(await chunks.list(of, request.query));
  });
  app.get(
    '/v1/collections/:collection_id/records/:record_id/chunks',
    withScope(guard, chunkOperations.listChunksOfRecord),
    async (request) => {
      const { collection_id: collectionId, record_id: recordId } = request.params;
      const of = { projectId: guard.callerOf(request).projectId, collectionId, recordId };
      return withCount(await chunks.list(of, request.query));
    },
  );
}

function createRoute(app: App, { guard, chunks }: ChunkRoutesDeps): void {
  app.post(
    ofCollection,
    { ...withScope(guard, chunkOperations.createChunk), preValidation: dropNulls },
    async (request) => {
      const { projectId } = guard.callerOf(request);
      const data = await chunks.create(projectId, request.params.collection_id, request.body);
      return { ...successEnvelope(data), ...warningsOf(ChunkCreate, request.body) };
    },
  );
}

/** `warnings` of an answer, those of the request after those of the answer; no member if there are none. */
function warningsWith(found: readonly string[], { warnings = [] }: { warnings?: string[] }): { warnings?: string[] } {
  return found.length + warnings.length === 0 ? {} : { warnings: [...found, ...warnings] };
}

function queryRoute(app: App, { guard, chunks }: ChunkRoutesDeps): void {
  app.post(
    `${ofCollection}/query`,
    { ...withScope(guard, chunkOperations.queryChunks), preValidation: dropNulls },
    (request, reply) =>
      whileConnected(reply, async (signal) => {
        const { collection_id } = request.params;
        const { projectId, keyId } = guard.callerOf(request);
        const of = { projectId, keyId, collectionIds: [collection_id] };
        const found = await chunks.query(of, request.body, signal);
        const [ranked] = found.rankings;
        if (ranked === undefined) throw new Error('the answer names no ranking');
        const { ranking, reason: ranking_reason } = ranked;
        const { hasGoodMatch: good_match, reranking } = found;
        const answer = { ...withTotal(listEnvelope(found)), good_match, ranking, ranking_reason, reranking };
        return { ...answer, ...warningsWith(found.warnings, warningsOf(ChunkQuery, request.body)) };
      }),
  );
}

function collectionsQueryRoute(app: App, { guard, chunks }: ChunkRoutesDeps): void {
  app.post(
    '/v1/chunks/query',
    { ...withScope(guard, chunkOperations.queryCollections), preValidation: dropNulls },
    (request, reply) =>
      whileConnected(reply, async (signal) => {
        const { collection_ids: collectionIds, ...question } = request.body;
        const { projectId, keyId, permissions } = guard.callerOf(request);
        for (const id of collectionIds) checkCollection(permissions, id);
        const found = await chunks.query({ projectId, keyId, collectionIds }, question, signal);
        const rankings = found.rankings.map(({ collectionId, ranking, reason }) => ({
          collection_id: collectionId,
          ranking,
          ranking_reason: reason,
        }));
        const { hasGoodMatch: good_match, reranking } = found;
        const answer = { ...withTotal(listEnvelope(found)), good_match, rankings, reranking };
        return { ...answer, ...warningsWith(found.warnings, warningsOf(CollectionsQuery, request.body)) };
      }),
  );
}

function itemRoutes(app: App, { guard, chunks }: ChunkRoutesDeps): void {
  app.get(ofChunk, withScope(guard, chunkOperations.getChunk), async (request) => {
    return successEnvelope(await chunks.get(keyOf(guard, request, request.params)));
  });
  app.post(ofChunk, { ...withScope(guard, chunkOperations.updateChunk), preValidation: dropNulls }, async (request) => {
    const data = await chunks.update(keyOf(guard, request, request.params), request.body);
    return { ...successEnvelope(data), ...warningsOf(ChunkUpdate, request.body) };
  });
}

function removeRoute(app: App, { guard, chunks }: ChunkRoutesDeps): void {
  app.delete(ofChunk, withScope(guard, chunkOperations.deleteChunk), async (request) => {
    const { chunk_id: id, collection_id } = request.params;
    await chunks.remove(keyOf(guard, request, request.params));
    await request.server.audit.record(request, { action: 'chunk.deleted', id, details: { collection_id } });
    return acknowledgement;
  });
}
