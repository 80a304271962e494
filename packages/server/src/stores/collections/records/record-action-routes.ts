import { Readable } from 'node:stream';
import { recordOperations } from '@quartermaster/contract/operations';
import { listEnvelope, successEnvelope } from '../../../platform/envelope.ts';
import type { App } from '../../../platform/http/app.ts';
import type { Guard } from '../../../platform/http/guard.ts';
import { withScope } from '../../../platform/with-scope.ts';
import { keyOf, ofRecord } from './record-routes.ts';
import type { RecordRows } from './record-rows.ts';
import type { RecordTexts } from './record-text.ts';
import type { Records } from './records.ts';

/** Routes that retry or cancel the processing of a record, in every status, and restore a deleted one. Source: ADR 0032. */
export function recordActionRoutes(app: App, { guard, records }: { readonly guard: Guard; readonly records: Records }) {
  app.post(`${ofRecord}/retry`, withScope(guard, recordOperations.retryRecord), async (request) => {
    return successEnvelope(await records.retry(keyOf(guard, request, request.params)));
  });
  app.post(`${ofRecord}/cancel`, withScope(guard, recordOperations.cancelRecord), async (request) => {
    return successEnvelope(await records.cancel(keyOf(guard, request, request.params)));
  });
  app.post(`${ofRecord}/restore`, withScope(guard, recordOperations.restoreRecord), async (request) => {
    const { record_id: id, collection_id } = request.params;
    const data = await records.restore(keyOf(guard, request, request.params));
    await request.server.audit.record(request, { action: 'record.restored', id, details: { collection_id } });
    return successEnvelope(data);
  });
}

/** The rejected rows of a sheet, as a list or a sheet. Source: docs/contract.md "Collections, records, chunks". */
export function rowRoutes(app: App, { guard, rows }: { readonly guard: Guard; readonly rows: RecordRows }): void {
  app.get(`${ofRecord}/rows`, withScope(guard, recordOperations.listRecordRows), async (request, reply) => {
    const key = keyOf(guard, request, request.params);
    const { format, ...query } = request.query;
    const wantsCsv = format === undefined ? prefersCsv(request.headers.accept) : format === 'csv';
    reply.header('Vary', 'Accept');
    if (!wantsCsv) return listEnvelope(await rows.list(key, query));
    const sheet = await rows.sheet(key, query);
    const name = `${key.recordId}-${query.status ?? 'rejected'}.csv`;
    reply.header('Content-Type', 'text/csv; charset=utf-8');
    reply.header('Content-Disposition', `attachment; filename="${name}"`);
    // The schema describes the body as text; the body is sent as a stream.
    return reply.send(Readable.from(sheet) as unknown as string);
  });
}

/** Whether the client prefers CSV to JSON in its `Accept` header. */
function prefersCsv(accept = ''): boolean {
  const csv = accept.search(/text\/csv/i);
  const json = accept.search(/application\/json/i);
  return csv !== -1 && (json === -1 || csv < json);
}

/** The extracted text of records. Source: docs/contract.md "Collections, records, chunks". */
export function textRoutes(app: App, { guard, texts }: { readonly guard: Guard; readonly texts: RecordTexts }): void {
  app.get(`${ofRecord}/text`, withScope(guard, recordOperations.getRecordText), async (request) =>
    successEnvelope(await texts.read(keyOf(guard, request, request.params), request.query)),
  );
}
