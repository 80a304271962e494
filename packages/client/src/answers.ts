import type { DataOf } from './create-api.ts';
import type { FilesApi, RecordItem, RecordPreview } from './generated/files-api.ts';
import type { ExecuteResult, Plugin, PluginDefinition, PluginsApi, Run } from './generated/plugins-api.ts';

/** Narrows the response of operations with several response types. The request determines the type, so the caller selects it. */

type Created = DataOf<FilesApi, 'POST /v1/collections/{collection_id}/records'>;
type Executed = DataOf<PluginsApi, 'POST /v1/execute'>;
type Listed = DataOf<PluginsApi, 'GET /v1/plugins'>;

/** The response without `dry_run`. */
export const asRecord = (answer: Created) => answer as RecordItem;

/** The response with `dry_run`. */
export const asPreview = (answer: Created) => answer as RecordPreview;

/** The response with `Prefer: respond-async`. */
export const asRun = (answer: Executed) => answer as Run;

/** The response without that header. */
export const asResult = (answer: Executed) => answer as ExecuteResult;

/** The response without `format`. */
export const asPlugins = (answer: Listed) => answer as Plugin[];

/** The response with a `format` other than `taskingai`. */
export const asDefinitions = (answer: Listed) => answer as PluginDefinition[];
