import { Readable } from 'node:stream';
import { RecordCreate, RecordUpdate } from '@quartermaster/contract';
import { recordOperations } from '@quartermaster/contract/operations';
import type { FastifyRequest } from 'fastify';
import { acknowledgement, listEnvelope, successEnvelope } from '../../../platform/envelope.ts';
import type { App } from '../../../platform/http/app.ts';
import type { Guard } from '../../../platform/http/guard.ts';
import { fileReachOf } from '../../../platform/permissions.ts';
import { warningsOf } from '../../../platform/validation/ignored-members.ts';
import { withScope } from '../../../platform/with-scope.ts';
import { dropNulls } from '../route-parts.ts';
import type { DryRuns } from './dry-runs.ts';
import type { RecordEvents } from './record-events.ts';
import type { RecordKey } from './record-repository.ts';
import type { RecordCaller, Records } from './records.ts';

export interface RecordRoutesDeps {
  readonly guard: Guard;
  readonly records: Records;
  readonly events: RecordEvents;
  readonly dryRuns: DryRuns;
}

export const ofCollection = '/v1/collections/:collection_id/records';
export const ofRecord = `${ofCollection}/:record_id` as const;

/** Records over HTTP. Source: docs/contract.md "Collections, records, chunks". */
export function recordRoutes(app: App, deps: RecordRoutesDeps): void {
  listRoutes(app, deps);
  itemRoutes(app, deps);
  removeRoute(app, deps);
  eventsRoute(app, deps);
}

export function keyOf(
  guard: Guard,
  request: FastifyRequest,
  params: { collection_id: string; record_id: string },
): RecordKey & RecordCaller {
  const { projectId, keyId, reach } = callerOf(guard, request);
  return { projectId, keyId, reach, collectionId: params.collection_id, recordId: params.record_id };
}

function callerOf(guard: Guard, request: FastifyRequest) {
  const { projectId, keyId, permissions } = guard.callerOf(request);
  return { projectId, keyId, reach: fileReachOf(permissions) };
}

function listRoutes(app: App, { guard, records, dryRuns }: RecordRoutesDeps): void {
  app.post(
    ofCollection,
    { ...withScope(guard, recordOperations.createRecord), preValidation: dropNulls },
    async (request, reply) => {
      const caller = callerOf(guard, request);
      const { collection_id: collectionId } = request.params;
      const warnings = warningsOf(RecordCreate, request.body);
      if (request.query.dry_run === true) {
        const gone = new AbortController();
        reply.raw.once('close', () => gone.abort());
        const data = await dryRuns.run({ ...caller, collectionId }, request.body, gone.signal);
        return { ...successEnvelope(data), ...warnings };
      }
      const data = await records.create(caller, collectionId, request.body);
      return { ...successEnvelope(data), ...warnings };
    },
  );
  app.get(ofCollection, withScope(guard, recordOperations.listRecords), async (request) => {
    const { projectId } = guard.callerOf(request);
    return listEnvelope(await records.list(projectId, request.params.collection_id, request.query));
  });
}

function itemRoutes(app: App, { guard, records }: RecordRoutesDeps): void {
  app.get(ofRecord, withScope(guard, recordOperations.getRecord), async (request) => {
    return successEnvelope(await records.get(keyOf(guard, request, request.params)));
  });
  app.post(
    ofRecord,
    { ...withScope(guard, recordOperations.updateRecord), preValidation: dropNulls },
    async (request) => {
      const data = await records.update(keyOf(guard, request, request.params), request.body);
      return { ...successEnvelope(data), ...warningsOf(RecordUpdate, request.body) };
    },
  );
}

function removeRoute(app: App, { guard, records }: RecordRoutesDeps): void {
  app.delete(ofRecord, withScope(guard, recordOperations.deleteRecord), async (request) => {
    const { record_id: id, collection_id } = request.params;
    const { restorable } = request.query;
    await records.remove(keyOf(guard, request, request.params), { restorable });
    await request.server.audit.record(request, { action: 'record.deleted', id, details: { collection_id } });
    return acknowledgement;
  });
}

function eventsRoute(app: App, { guard, records, events }: RecordRoutesDeps): void {
  app.get(
    `${ofRecord}/events`,
    { ...withScope(guard, recordOperations.followRecord), exposeHeadRoute: false },
    async (request, reply) => {
      const key = keyOf(guard, request, request.params);
      // Registered before the first wait, so that a disconnect during the wait is reported only once.
      const gone = new AbortController();
      reply.raw.once('close', () => gone.abort());
      await records.get(key);
      const stream = events.follow(key, guard.callerOf(request).keyId, gone.signal);
      reply.header('Content-Type', 'text/event-stream; charset=utf-8');
      // The schema describes the body as text; the body is sent as a stream.
      return reply.send(Readable.from(stream) as unknown as string);
    },
  );
}
