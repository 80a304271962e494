import type { DataOf } from './create-api.ts';
import type { ExecuteResult, Plugin, PluginDefinition, PluginsApi, Run } from './generated/plugins-api.ts';

/** Narrows the response of operations with several response types. The request determines the type, so the caller selects it. */

type Executed = DataOf<PluginsApi, 'POST /v1/execute'>;
type Listed = DataOf<PluginsApi, 'GET /v1/plugins'>;

/** The response with `Prefer: respond-async`. */
export const asRun = (answer: Executed) => answer as Run;

/** The response without that header. */
export const asResult = (answer: Executed) => answer as ExecuteResult;

/** The response without `format`. */
export const asPlugins = (answer: Listed) => answer as Plugin[];

/** The response with a `format` other than `taskingai`. */
export const asDefinitions = (answer: Listed) => answer as PluginDefinition[];
