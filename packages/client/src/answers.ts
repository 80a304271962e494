import type { DataOf } from './create-api.ts';
import type { FilesApi, RecordItem, RecordPreview } from './generated/files-api.ts';
import type { ExecuteResult, Plugin, PluginDefinition, PluginsApi, Run } from './generated/plugins-api.ts';

/** Operations with several answers: the request decides which one comes, so the caller names it. */

type Created = DataOf<FilesApi, 'POST /v1/collections/{collection_id}/records'>;
type Executed = DataOf<PluginsApi, 'POST /v1/execute'>;
type Listed = DataOf<PluginsApi, 'GET /v1/plugins'>;

/** The answer without `dry_run`. */
export const asRecord = (answer: Created) => answer as RecordItem;

/** The answer with `dry_run`. */
export const asPreview = (answer: Created) => answer as RecordPreview;

/** The answer with `Prefer: respond-async`. */
export const asRun = (answer: Executed) => answer as Run;

/** The answer without it. */
export const asResult = (answer: Executed) => answer as ExecuteResult;

/** The answer without `format`. */
export const asPlugins = (answer: Listed) => answer as Plugin[];

/** The answer with a `format` other than `taskingai`. */
export const asDefinitions = (answer: Listed) => answer as PluginDefinition[];
