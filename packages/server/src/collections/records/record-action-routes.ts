import { RecordItem, Success } from '@quartermaster/contract';
import type { App } from '../../http/app.ts';
import type { Gate } from '../../http/gate.ts';
import { keyOf, ofRecord, RecordParams, tags } from './record-routes.ts';
import type { Records } from './records.ts';

/** What can be done with the making of a record, in every status. Source: ADR 0032. */
export function recordActionRoutes(app: App, { gate, records }: { readonly gate: Gate; readonly records: Records }) {
  const onRequest = gate.requires('collections');
  const response = { 200: Success(RecordItem) };
  app.post(
    `${ofRecord}/retry`,
    {
      onRequest,
      schema: {
        operationId: 'retryRecord',
        tags,
        summary:
          'Make the chunks of a record anew from the same source. One that is being made goes on; if it waits for its next try, that begins now.',
        params: RecordParams,
        response,
      },
    },
    async (request) => {
      return { status: 'success', data: await records.retry(keyOf(gate, request, request.params)) } as const;
    },
  );
  app.post(
    `${ofRecord}/cancel`,
    {
      onRequest,
      schema: {
        operationId: 'cancelRecord',
        tags,
        summary:
          'End the making of a record: it is in error with the code cancelled and keeps the chunks it had. One that is made already stays as it is.',
        params: RecordParams,
        response,
      },
    },
    async (request) => {
      return { status: 'success', data: await records.cancel(keyOf(gate, request, request.params)) } as const;
    },
  );
}
