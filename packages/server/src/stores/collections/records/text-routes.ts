import { RecordText, RecordTextQuery, Success } from '@quartermaster/contract';
import { recordOperations } from '@quartermaster/contract/operations';
import { successEnvelope } from '../../../platform/envelope.ts';
import type { App } from '../../../platform/http/app.ts';
import type { Guard } from '../../../platform/http/guard.ts';
import { keyOf, ofRecord, RecordParams } from './record-routes.ts';
import type { RecordTexts } from './record-text.ts';

/** The extracted text of records. Source: docs/contract.md "Collections, records, chunks". */
export function textRoutes(app: App, { guard, texts }: { readonly guard: Guard; readonly texts: RecordTexts }): void {
  app.get(
    `${ofRecord}/text`,
    {
      onRequest: guard.requires('collections'),
      schema: {
        ...recordOperations.getRecordText,
        params: RecordParams,
        querystring: RecordTextQuery,
        response: { 200: Success(RecordText) },
      },
    },
    async (request) => successEnvelope(await texts.read(keyOf(guard, request, request.params), request.query)),
  );
}
