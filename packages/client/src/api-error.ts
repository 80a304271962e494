import type { ErrorCode } from '@quartermaster/contract';

/** A code of docs/reference/errors.md. Newer services may send codes that this version does not know. */
export type ApiErrorCode = ErrorCode | typeof unreadableAnswer | UnknownCode;

/** A string that does not absorb the literals of a union, so that editors suggest them and a `switch` can list them. */
type UnknownCode = string & Record<never, never>;

/** The code of an error whose body does not come from the service. */
const unreadableAnswer = 'UNREADABLE_ANSWER';

/** An error response of the service, or of a proxy between the client and the service. */
export class ApiError extends Error {
  /** HTTP status. */
  readonly status: number;
  /** `UNREADABLE_ANSWER` when the body is not an error of the service. */
  readonly code: ApiErrorCode;
  readonly details: ReadonlyArray<Record<string, unknown>>;
  readonly requestId: string | null;

  constructor(
    status: number,
    error: { code: ApiErrorCode; message: string; details?: Array<Record<string, unknown>>; request_id?: string },
  ) {
    super(error.message);
    this.name = 'ApiError';
    this.status = status;
    this.code = error.code;
    this.details = error.details ?? [];
    this.requestId = error.request_id ?? null;
  }
}

/** Creates the error for a response with this status and body. */
export function readApiError(status: number, text: string): ApiError {
  try {
    const body = JSON.parse(text) as { error?: ConstructorParameters<typeof ApiError>[1] };
    if (body.error !== undefined) return new ApiError(status, body.error);
  } catch {
    // Not JSON: a proxy between the client and the service answered.
  }
  return new ApiError(status, { code: unreadableAnswer, message: `HTTP ${status}` });
}
