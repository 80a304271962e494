import type { ErrorCode } from './generated/error-codes.ts';

/** A code of docs/reference/errors.md. Newer services may send codes that this version does not know. */
export type ApiErrorCode = ErrorCode | typeof unreadable | UnknownCode;

/** A string that does not absorb the literals of a union, so that editors suggest them and a `switch` can list them. */
type UnknownCode = string & Record<never, never>;

/** The code of an error whose body does not come from the service. */
const unreadable = 'UNREADABLE_ANSWER';

/** A failed call. Its message and its members never hold the API key. */
export class QuartermasterError extends Error {
  // Written out, because a bundler may rename the classes.
  override readonly name: string = 'QuartermasterError';
  /** The `Idempotency-Key` that every attempt of the call had; null without one. */
  readonly idempotencyKey: string | null;

  constructor(
    message: string,
    { idempotencyKey = null, cause }: { idempotencyKey?: string | null; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.idempotencyKey = idempotencyKey;
  }
}

/** The `error` member of an error response. */
export interface ErrorBody {
  readonly code: ApiErrorCode;
  readonly message: string;
  readonly details?: ReadonlyArray<Record<string, unknown>>;
  readonly request_id?: string;
}

/** Facts about a response that are not in its body. */
export interface ErrorContext {
  readonly idempotencyKey?: string | null;
  readonly requestId?: string | null;
  /** Milliseconds that `Retry-After` asks for. */
  readonly retryAfterMs?: number | null;
}

/** An error response of the service, or of a proxy between the client and the service. */
export class ApiError extends QuartermasterError {
  override readonly name: string = 'ApiError';
  /** HTTP status. */
  readonly status: number;
  /** `UNREADABLE_ANSWER` when the body does not come from the service. */
  readonly code: ApiErrorCode;
  readonly details: ReadonlyArray<Record<string, unknown>>;
  /** The id under which the service logged the request; null when the response has none. */
  readonly requestId: string | null;
  /** Milliseconds after which the service accepts the request again; null when it does not say so. */
  readonly retryAfterMs: number | null;

  constructor(status: number, error: ErrorBody, context: ErrorContext = {}) {
    super(error.message, { idempotencyKey: context.idempotencyKey ?? null });
    this.status = status;
    this.code = error.code;
    this.details = error.details ?? [];
    this.requestId = error.request_id ?? context.requestId ?? null;
    this.retryAfterMs = context.retryAfterMs ?? null;
  }
}

/** Status 401: the API key, the session or the credentials of a third party are refused. */
export class AuthenticationError extends ApiError {
  override readonly name: string = 'AuthenticationError';
}

/** Status 403: the API key lacks a scope. */
export class PermissionError extends ApiError {
  override readonly name: string = 'PermissionError';
}

/** Status 404: the path or the object does not exist. */
export class NotFoundError extends ApiError {
  override readonly name: string = 'NotFoundError';
}

/** Status 409: the object exists already, is in use, or changed at the same time. */
export class ConflictError extends ApiError {
  override readonly name: string = 'ConflictError';
}

/** One field that is wrong. */
export interface Issue {
  /** Such as `body/purpose`. */
  readonly path: string;
  readonly found: string;
  readonly expected: string;
}

/** Status 400, 413, 415, 416 or 422: the request is malformed or too large, a field is wrong, or a third party rejected it. */
export class ValidationError extends ApiError {
  override readonly name: string = 'ValidationError';

  /** The wrong fields, as far as the service names them. */
  get issues(): readonly Issue[] {
    return this.details.filter(isIssue) as unknown as Issue[]; // has these members
  }
}

/** Status 429: a rate limit of the service or of a third party, a queue or a quota. `retryAfterMs` is null for a quota. */
export class RateLimitError extends ApiError {
  override readonly name: string = 'RateLimitError';
}

/** Status 500 or above: the service, a plugin or its third party failed. */
export class ServerError extends ApiError {
  override readonly name: string = 'ServerError';
}

/** No response arrived, or it broke off. `cause` is the error of `fetch`. */
export class ConnectionError extends QuartermasterError {
  override readonly name: string = 'ConnectionError';
}

/** A time limit of this client passed. */
export class TimeoutError extends ConnectionError {
  override readonly name: string = 'TimeoutError';
}

const classes: Readonly<Record<number, typeof ApiError>> = {
  400: ValidationError,
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  413: ValidationError,
  415: ValidationError,
  416: ValidationError,
  422: ValidationError,
  429: RateLimitError,
};

/** The maximum number of characters of a foreign body that an error message quotes. */
const excerptLength = 200;

/** Creates the error for a response with this status and body. */
export function readApiError(status: number, text: string, context: ErrorContext = {}): ApiError {
  const Kind = classes[status] ?? (status >= 500 ? ServerError : ApiError);
  return new Kind(status, findErrorBody(text) ?? describeUnreadable(`HTTP ${status}`, text), context);
}

/** Creates the error for a successful response that is not JSON of the service. */
export function foreignBodyError(status: number, text: string, context: ErrorContext = {}): ApiError {
  return new ApiError(status, describeUnreadable(`HTTP ${status} without the JSON of the service`, text), context);
}

function describeUnreadable(what: string, text: string): ErrorBody {
  const excerpt = text.slice(0, excerptLength).trim();
  return { code: unreadable, message: excerpt === '' ? what : `${what}: ${excerpt}` };
}

function findErrorBody(text: string): ErrorBody | undefined {
  try {
    const { error } = JSON.parse(text) as { error?: unknown };
    return isErrorBody(error) ? error : undefined;
  } catch {
    // Not JSON: a proxy between the client and the service answered.
    return undefined;
  }
}

function isErrorBody(value: unknown): value is ErrorBody {
  if (typeof value !== 'object' || value === null) return false;
  const { code, message, details } = value as Record<string, unknown>;
  return typeof code === 'string' && typeof message === 'string' && (details === undefined || Array.isArray(details));
}

/** The service describes each wrong field by three texts. */
function isIssue(detail: Record<string, unknown>): boolean {
  return ['path', 'found', 'expected'].every((name) => typeof detail[name] === 'string');
}
