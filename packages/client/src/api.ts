/** The parts of the client that the console uses: a page signs in with a session instead of a key. */
export { asDefinitions, asPlugins, asResult, asRun } from './answers.ts';
export { createApi } from './create-api.ts';
export { ApiError, readApiError } from './errors.ts';
export type { FilesApi } from './generated/files-api.ts';
export type { PluginsApi } from './generated/plugins-api.ts';
export { readServerEvents } from './server-events.ts';
