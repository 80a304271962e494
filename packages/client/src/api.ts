export { asDefinitions, asPlugins, asPreview, asRecord, asResult, asRun } from './answers.ts';
export { type Api, createApi, type DataOf, type QueryOf, type ResponseOf } from './create-api.ts';
export { type Client, type ClientOptions, createClient } from './create-client.ts';
export { ApiError, type ApiErrorCode, readApiError } from './errors.ts';
export type {
  Chunk,
  ChunkQuery,
  Collection,
  CollectionCreate,
  File,
  FilesApi,
  FileWithReferences,
  RecordCreate,
  RecordItem,
  RecordPreview,
  RecordRow,
  RecordUpdate,
  ScoredChunk,
} from './generated/files-api.ts';
export type {
  Bundle,
  ExecuteRequest,
  ExecuteResult,
  Plugin,
  PluginDefinition,
  PluginsApi,
  Run,
  RunItem,
  RunProgress,
} from './generated/plugins-api.ts';
export type { FollowOptions, RunEvent } from './run-calls.ts';
export { readServerEvents, type ServerEvent } from './server-events.ts';
