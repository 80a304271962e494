import { Type } from 'typebox';
import { List, Success } from '../envelope.ts';
import { Bundle, bundleCategories, definitionFormats, FlatPlugin, Plugin, PluginDefinition } from '../plugins.ts';
import { describeOperations } from './operation.ts';

const id = Type.String({ minLength: 1, maxLength: 64 });
const BundleParams = Type.Object({ bundle_id: id });
const lang = Type.Optional(
  Type.String({ maxLength: 64, description: 'Language of names and descriptions, such as `zh`; otherwise English.' }),
);
const LanguageQuery = Type.Object({ lang });
const BundleAnswer = Type.Object({ ...List(Plugin).properties, bundle: Bundle });
const PluginsAnswer = Type.Union([List(Plugin), List(PluginDefinition), List(FlatPlugin)]);
const PluginParams = Type.Object({ bundle_id: id, plugin_id: id });
/** The maximum number of characters of a question about the catalogue. */
export const maxQuestionCharacters = 500;
const cursor = (which: string, id: string, pattern: string) =>
  Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 129,
      pattern,
      description: `Return the page that ${which} the item ${id}.`,
    }),
  );

/**
 * The query of a page of the catalogue. Without any of these parameters, a list has all items.
 * @param pattern the form of the ids
 */
const pageParameters = (id: string, pattern: string) => ({
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: maxQuestionCharacters,
      description: 'A description of the task in plain words. Only matches are listed, best first.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      description: 'Maximum number of items in the answer. Default: 20 with `q`, `after` or `before`, otherwise all.',
    }),
  ),
  after: cursor('follows', id, pattern),
  before: cursor('precedes', id, pattern),
});
/** The forms a list of plugins can have. */
export const listFormats = ['json_schema', ...definitionFormats] as const;

const idPattern = '[a-z][a-z0-9_]{0,63}';
const BundlesQuery = Type.Object({
  ...pageParameters('with this id', `^${idPattern}$`),
  lang,
  category: Type.Optional(
    Type.Enum([...bundleCategories], { description: 'Only bundles of this category, 20 of them by default.' }),
  ),
  retired: Type.Optional(
    Type.Boolean({ default: false, description: 'Also list bundles that can no longer be used.' }),
  ),
});
const PluginsQuery = Type.Object({
  bundle_id: Type.Optional(Type.String({ maxLength: 256, description: 'Only the plugins of this bundle.' })),
  ...pageParameters('with this `bundle_id/plugin_id`', `^${idPattern}/${idPattern}$`),
  lang,
  format: Type.Optional(
    Type.String({ maxLength: 64, default: listFormats[0], description: `One of ${listFormats.join(', ')}.` }),
  ),
});

const path = { bundle_id: 'calculator' };

export const bundleOperations = describeOperations('bundles', {
  listBundles: {
    summary: 'List bundles',
    description:
      'Lists all bundles, sorted by `bundle_id`. With `q` it lists the bundles of matching plugins, best first; `limit`, `after` and `before` cut pages. The answer has a strong `ETag`: send it as `If-None-Match` to get 304 while nothing has changed.',
    scope: 'plugins:read',
    querystring: BundlesQuery,
    response: { 200: List(Bundle) },
    examples: {
      bundles: {},
      matching: { summary: 'Find bundles that can do something', query: { q: 'weather forecast', limit: '5' } },
    },
  },
  getBundle: {
    summary: 'Get a bundle and its plugins',
    scope: 'plugins:read',
    params: BundleParams,
    querystring: LanguageQuery,
    response: { 200: BundleAnswer },
    examples: {
      bundle: { path },
      chinese: { summary: 'Get names and descriptions in Chinese', path, query: { lang: 'zh' } },
    },
  },
  getBundleOpenApi: {
    summary: 'Get a bundle as an OpenAPI document',
    description:
      'Returns an OpenAPI 3.1 document with one operation for each plugin. The operations call `executeDirectly`.',
    scope: 'plugins:read',
    params: BundleParams,
    querystring: LanguageQuery,
    response: { 200: Type.Record(Type.String(), Type.Unknown(), { description: 'An OpenAPI 3.1 document.' }) },
    examples: { bundle: { path } },
  },
  getBundleIcon: {
    summary: 'Get the icon of a bundle',
    description: 'SVG or PNG.',
    scope: 'plugins:read',
    params: BundleParams,
    produces: ['image/svg+xml', 'image/png'],
    examples: { bundle: { path } },
  },
});

export const pluginOperations = describeOperations('plugins', {
  listPlugins: {
    summary: 'List plugins',
    description:
      'Lists the plugins of all bundles or of one bundle, sorted by bundle and plugin. With `q` it lists those that match, best first; `limit`, `after` and `before` cut pages. `format` selects the tool format of a model provider; `losses` lists what that format cannot express.',
    scope: 'plugins:read',
    querystring: PluginsQuery,
    response: { 200: PluginsAnswer },
    examples: {
      bundle: { summary: 'List the plugins of a bundle', query: path },
      matching: { summary: 'Find plugins by what they do', query: { q: 'weather forecast', limit: '5' } },
      openai: { summary: 'List plugins as tools of the OpenAI API', query: { ...path, format: 'openai' } },
    },
  },
  getPlugin: {
    summary: 'Get a plugin',
    description:
      '`input_schema` describes `input_params`, and `output_schema` describes the output. Both are JSON Schemas.',
    scope: 'plugins:read',
    params: PluginParams,
    querystring: LanguageQuery,
    response: { 200: Success(Plugin) },
    examples: { plugin: { path: { ...path, plugin_id: 'evaluate' } } },
  },
});

const mounted =
  'The path behind `/plugins` is that of the plugins address. Here it always needs a key with the scope `plugins:read`, or a session.';

export const mountedOperations = describeOperations('plugins', {
  readPluginsAddress: {
    summary: 'Read a path of the plugins address',
    description: mounted,
    scope: 'plugins:read',
    examples: { bundles: { summary: 'List bundles', path: { '*': 'bundles' } } },
  },
  callPluginsAddress: {
    summary: 'Call a path of the plugins address',
    description: mounted,
    scope: 'plugins:read',
    examples: {
      execute: {
        summary: 'Run a plugin',
        path: { '*': 'execute' },
        body: { bundle_id: 'calculator', plugin_id: 'evaluate', input_params: { expression: '6*7' }, credentials: {} },
      },
    },
  },
  deleteAtPluginsAddress: {
    summary: 'Delete at a path of the plugins address',
    description: `${mounted} Artifacts can be deleted. Credential profiles too, which also needs the scope \`admin\`.`,
    scope: 'plugins',
    examples: { artifact: { summary: 'Delete an artifact', path: { '*': 'artifacts/$ARTIFACT_ID' } } },
  },
});
