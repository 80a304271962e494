/**
 * Every error code of the wire with its HTTP status and its meaning. A code once published keeps its meaning.
 * Source: docs/contract.md "Codes". `docs/reference/errors.md` is generated from this table.
 */
export const errorCodes = {
  INVALID_REQUEST: {
    status: 400,
    meaning: 'The request is malformed: invalid JSON, multipart or HTTP.',
  },
  APIKEY_VALIDATION_FAILED: {
    status: 401,
    meaning: 'The API key is missing, malformed, unknown, revoked or expired. The response does not tell which.',
  },
  CREDENTIALS_VALIDATION_ERROR: {
    status: 401,
    meaning:
      'The third party rejected the credentials that the bundle takes: it answered 401, or the manifest of the bundle says that its answer means this.',
  },
  SESSION_VALIDATION_FAILED: {
    status: 401,
    meaning:
      'The name or the password is wrong, or the session does not exist or has ended. The response does not tell which.',
  },
  PERMISSION_DENIED: {
    status: 403,
    meaning:
      'The API key is valid but lacks a required scope, or a session request came from an origin other than that of the console.',
  },
  OBJECT_NOT_FOUND: {
    status: 404,
    meaning: 'The path or the object does not exist, or the object belongs to another project.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    meaning: 'The path exists but does not support the method. `Allow` lists the supported methods.',
  },
  REQUEST_TIMEOUT: { status: 408, meaning: 'The client sent its request too slowly or stopped sending.' },
  DUPLICATE_OBJECT: {
    status: 409,
    meaning: 'The object already exists, is in use, or was modified concurrently, or the same request is in progress.',
  },
  FILE_TOO_LARGE: {
    status: 413,
    meaning: 'The file or the request body is larger than the limit named in the message.',
  },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, meaning: 'The operation does not support the Content-Type.' },
  RANGE_NOT_SATISFIABLE: { status: 416, meaning: 'The requested range is outside the file.' },
  REQUEST_VALIDATION_ERROR: {
    status: 422,
    meaning: 'A field is missing, has the wrong type or has a value that is not allowed.',
  },
  PROVIDER_REJECTED: {
    status: 422,
    meaning:
      'The third party rejected the request: it answered with a 4xx status other than 408 and 429 (401 only if the bundle takes no credentials), or an MCP server rejected the arguments. `details[0]` has its `upstream_status`, `upstream_code` and `message`. Do not retry the same input.',
  },
  RUN_CANCELLED: { status: 409, meaning: 'The run was cancelled before it ended.' },
  TOO_MANY_REQUESTS: {
    status: 429,
    meaning: 'A rate limit is reached or a queue is full. `Retry-After` says when to retry.',
  },
  PROVIDER_RATE_LIMITED: {
    status: 429,
    meaning:
      'The rate limit of the third party is exceeded. `Retry-After` is that of the third party, at most one day; it is absent when the third party sends none.',
  },
  RESOURCE_LIMIT_REACHED: { status: 429, meaning: 'A quota or a capacity is used up.' },
  INTERNAL_SERVER_ERROR: {
    status: 500,
    meaning: 'The service failed unexpectedly. Search its log for the request id.',
  },
  PLUGIN_FAILED: {
    status: 500,
    meaning: 'The plugin itself failed; `details[0].outcome` is `failed`, `crashed` or `out_of_memory`.',
  },
  NOT_CONFIGURED: {
    status: 501,
    meaning: 'The operation needs a setting that the operator has not set. The message names it.',
  },
  PROVIDER_ERROR: {
    status: 502,
    meaning:
      'The third party failed (408 or 5xx), sent an unusable answer or could not be reached, or the request to it is not allowed.',
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    meaning:
      'The service is starting or stopping, its database or disk cannot be reached, or a search took too long. Retry the request. After an upload, the file may be stored.',
  },
  PLUGIN_TIMEOUT: {
    status: 504,
    meaning: 'The plugin or the third party exceeded the time limit, or the plugin exceeded its processor time.',
  },
  INSUFFICIENT_STORAGE: { status: 507, meaning: 'The disk is full or nearly full. Nothing was stored.' },
} as const satisfies Record<string, { status: number; meaning: string }>;

export type ErrorCode = keyof typeof errorCodes;
