import { RecordItem, Success } from '@quartermaster/contract';
import { recordOperations } from '@quartermaster/contract/operations';
import { successEnvelope } from '../../../platform/envelope.ts';
import type { App } from '../../../platform/http/app.ts';
import type { Guard } from '../../../platform/http/guard.ts';
import { keyOf, ofRecord, RecordParams } from './record-routes.ts';
import type { Records } from './records.ts';

/** Routes that retry or cancel the processing of a record, in every status. Source: ADR 0032. */
export function recordActionRoutes(app: App, { guard, records }: { readonly guard: Guard; readonly records: Records }) {
  const onRequest = guard.requires('collections');
  const response = { 200: Success(RecordItem) };
  app.post(
    `${ofRecord}/retry`,
    {
      onRequest,
      schema: {
        ...recordOperations.retryRecord,
        params: RecordParams,
        response,
      },
    },
    async (request) => {
      return successEnvelope(await records.retry(keyOf(guard, request, request.params)));
    },
  );
  app.post(
    `${ofRecord}/cancel`,
    {
      onRequest,
      schema: {
        ...recordOperations.cancelRecord,
        params: RecordParams,
        response,
      },
    },
    async (request) => {
      return successEnvelope(await records.cancel(keyOf(guard, request, request.params)));
    },
  );
}
