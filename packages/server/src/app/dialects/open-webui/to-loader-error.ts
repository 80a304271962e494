import type { LoaderError } from '@quartermaster/contract';
import type { ErrorResponse } from '../../../platform/http/error-writer.ts';
import type { Problem } from '../../../platform/problem.ts';

/** Writes an error in the form of Open WebUI, which shows `detail`. */
export function toLoaderError(problem: Problem, requestId: string): ErrorResponse {
  const reason = problem.details?.[0]?.reason;
  const body: LoaderError = {
    detail: problem.message,
    code: problem.code,
    ...(typeof reason === 'string' ? { reason } : {}),
    request_id: requestId,
  };
  return { status: problem.status, contentType: 'application/json; charset=utf-8', body };
}
