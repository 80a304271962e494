import { createApi } from '@quartermaster/client/api';
import type { ConsentDecision, ConsentRequest, ContinueUrl } from '@quartermaster/contract';
import { filesOptions } from './addresses.ts';

interface Path {
  path: { request_id: string };
}

/** The calls of the page of consent, which no API document contains. The cookie of the request is sent to their path only. */
interface ConsentApi {
  'GET /oauth/requests/{request_id}/details': {
    request: Path;
    responses: { 200: { status: 'success'; data: ConsentRequest } };
  };
  'POST /oauth/requests/{request_id}/decision': {
    request: Path & { body: ConsentDecision };
    responses: { 200: { status: 'success'; data: ContinueUrl } };
  };
}

export const consentApi = createApi<ConsentApi>(filesOptions);
