/** An error response of the service, or of a proxy between the client and the service. */
export class ApiError extends Error {
  /** HTTP status. */
  readonly status: number;
  /** A code of docs/reference/errors.md, or `UNREADABLE_ANSWER` when the body is not an error of the service. */
  readonly code: string;
  readonly details: ReadonlyArray<Record<string, unknown>>;
  readonly requestId: string | null;

  constructor(
    status: number,
    error: { code: string; message: string; details?: Array<Record<string, unknown>>; request_id?: string },
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
  return new ApiError(status, { code: 'UNREADABLE_ANSWER', message: `HTTP ${status}` });
}
