import type { DifyError } from '@quartermaster/contract';
import type { ErrorResponse } from '../../../platform/http/error-writer.ts';
import type { Problem } from '../../../platform/problem.ts';

/** The codes that Dify suggests. 1001, a malformed header, is not used: every refused key gets the same response. */
const codes = { keyRefused: 1002, knowledgeNotFound: 2001 } as const;

/**
 * Writes an error in the form of Dify. A refused key is 403 instead of 401, because Dify accepts a connection whose
 * test request gets any status except 403, 404 and 502.
 */
export function toDifyError(problem: Problem, requestId: string): ErrorResponse {
  const status = problem.code === 'APIKEY_VALIDATION_FAILED' ? 403 : problem.status;
  const body: DifyError = {
    error_code: codeOf(problem, status),
    error_msg: problem.message,
    code: problem.code,
    request_id: requestId,
  };
  return { status, contentType: 'application/json; charset=utf-8', body };
}

function codeOf({ code }: Problem, status: number): number {
  if (status === 403) return codes.keyRefused;
  return code === 'OBJECT_NOT_FOUND' ? codes.knowledgeNotFound : status;
}
