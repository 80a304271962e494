import type { DataOf } from './create-api.ts';
import type { FilesApi } from './generated/files-api.ts';
import type { PluginsApi } from './generated/plugins-api.ts';

/** Operations with several answers: the request decides which one comes, so the caller names it. */

type Created = DataOf<FilesApi, 'POST /v1/collections/{collection_id}/records'>;
type Preview = Extract<Created, { chunks: unknown }>;
type Executed = DataOf<PluginsApi, 'POST /v1/execute'>;
type Listed = DataOf<PluginsApi, 'GET /v1/plugins'>;
type Plugins = Extract<Listed, ReadonlyArray<{ input_schema: object; effects: string }>>;
type Definitions = Extract<Listed, ReadonlyArray<{ object: 'PluginDefinition' }>>;

/** The answer without `dry_run`. */
export const asRecord = (answer: Created) => answer as Exclude<Created, Preview>;

/** The answer with `dry_run`. */
export const asPreview = (answer: Created) => answer as Preview;

/** The answer with `Prefer: respond-async`. */
export const asRun = (answer: Executed) => answer as Extract<Executed, { object: 'Run' }>;

/** The answer without it. */
export const asResult = (answer: Executed) => answer as Exclude<Executed, { object: 'Run' }>;

/** The answer without `format`. */
export const asPlugins = (answer: Listed) => answer as Plugins;

/** The answer with a `format` other than `taskingai`. */
export const asDefinitions = (answer: Listed) => answer as Definitions;
