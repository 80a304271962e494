export {
  ApiError,
  type ApiErrorCode,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  type Issue,
  NotFoundError,
  PermissionError,
  QuartermasterError,
  RateLimitError,
  ServerError,
  TimeoutError,
  ValidationError,
} from './errors.ts';
export { Quartermaster, type QuartermasterOptions } from './quartermaster.ts';
export type { ContentOptions, UploadOptions } from './resources/files.ts';
export type { DefinitionFormat, RunOptions, Values } from './resources/plugins.ts';
export {
  RecordFailedError,
  type RecordRequest,
  type RecordState,
  type RecordWaitOptions,
} from './resources/records.ts';
export { RunFailedError, type RunRequest, type RunState, type RunWaitOptions } from './resources/runs.ts';
export type { Answer, ApiList, ApiRequest, Page } from './transport/api-request.ts';
export type { RequestOptions } from './transport/transport.ts';
export type * from './types.ts';
export type { UploadProgress } from './upload/encode-upload.ts';
export type { UploadSource } from './upload/open-source.ts';
export type { WaitOptions } from './wait.ts';
