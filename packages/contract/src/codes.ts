/**
 * Every error code of the wire with its HTTP status and its meaning. A code once published keeps its meaning.
 * Source: docs/contract.md "Codes". `docs/reference/errors.md` is generated from this table.
 */
export const errorCodes = {
  INVALID_REQUEST: {
    status: 400,
    meaning: 'The message itself is malformed: broken JSON, broken multipart, broken HTTP.',
  },
  APIKEY_VALIDATION_FAILED: {
    status: 401,
    meaning: 'The API key is missing, malformed, unknown, revoked or expired. One answer for all of them.',
  },
  CREDENTIALS_VALIDATION_ERROR: {
    status: 401,
    meaning: 'The third party refused the credentials that were sent along.',
  },
  SESSION_VALIDATION_FAILED: {
    status: 401,
    meaning: 'Name or password is wrong, or the session is unknown or over. One answer for all of them.',
  },
  PERMISSION_DENIED: {
    status: 403,
    meaning:
      'The API key is valid but lacks the scope this operation needs; or a request of a session did not come from the console of this address.',
  },
  OBJECT_NOT_FOUND: {
    status: 404,
    meaning: 'No such path or object; also the answer for an object of another project.',
  },
  METHOD_NOT_ALLOWED: { status: 405, meaning: 'The path exists, the method does not. `Allow` lists those that do.' },
  REQUEST_TIMEOUT: { status: 408, meaning: 'The client sent its request too slowly or stopped sending.' },
  DUPLICATE_OBJECT: { status: 409, meaning: 'The object exists already, is in use, or the same request is in flight.' },
  FILE_TOO_LARGE: {
    status: 413,
    meaning: 'The file or the request body is larger than the limit named in the message.',
  },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, meaning: 'The Content-Type is not one this operation reads.' },
  RANGE_NOT_SATISFIABLE: { status: 416, meaning: 'The Range asked for lies outside the file.' },
  REQUEST_VALIDATION_ERROR: {
    status: 422,
    meaning: 'The request is well-formed but a field is missing, ill-typed or out of bounds.',
  },
  RUN_CANCELLED: { status: 409, meaning: 'Somebody cancelled the run before it ended.' },
  TOO_MANY_REQUESTS: { status: 429, meaning: 'A rate limit or a queue is full. `Retry-After` says when to try again.' },
  RESOURCE_LIMIT_REACHED: { status: 429, meaning: 'A quota or a capacity is used up.' },
  INTERNAL_SERVER_ERROR: { status: 500, meaning: 'A defect of the service. The request id finds it in the log.' },
  PLUGIN_FAILED: {
    status: 500,
    meaning: 'The plugin itself failed; `details[0].outcome` is `failed`, `crashed` or `out_of_memory`.',
  },
  NOT_CONFIGURED: {
    status: 501,
    meaning: 'The operator has not set up what this operation needs; the message names the setting.',
  },
  PROVIDER_ERROR: {
    status: 502,
    meaning: 'The third party refused the call, answered nonsense or could not be reached.',
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    meaning:
      'The service is starting or stopping, or its database or disk cannot be reached. Try again. After an upload, the file may have been stored.',
  },
  PLUGIN_TIMEOUT: {
    status: 504,
    meaning:
      'The plugin or the third party did not answer within the time limit, or the plugin took more processor time than it may.',
  },
  INSUFFICIENT_STORAGE: { status: 507, meaning: 'The disk is full or nearly so; nothing of the upload was kept.' },
} as const satisfies Record<string, { status: number; meaning: string }>;

export type ErrorCode = keyof typeof errorCodes;
