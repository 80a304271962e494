import { describeOperations } from './operation.ts';

const path = { bundle_id: 'calculator' };

export const bundleOperations = describeOperations('bundles', {
  listBundles: {
    summary: 'List bundles',
    description:
      'Lists all bundles, sorted by `bundle_id`. With `q` it lists the bundles of matching plugins, best first; `limit`, `after` and `before` cut pages. The answer has a strong `ETag`: send it as `If-None-Match` to get 304 while nothing has changed.',
    scope: 'plugins:read',
    examples: {
      bundles: {},
      matching: { summary: 'Find bundles that can do something', query: { q: 'weather forecast', limit: '5' } },
    },
  },
  getBundle: {
    summary: 'Get a bundle and its plugins',
    scope: 'plugins:read',
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
    examples: { bundle: { path } },
  },
  getBundleIcon: {
    summary: 'Get the icon of a bundle',
    description: 'SVG or PNG.',
    scope: 'plugins:read',
    examples: { bundle: { path } },
  },
});

export const pluginOperations = describeOperations('plugins', {
  listPlugins: {
    summary: 'List plugins',
    description:
      'Lists the plugins of all bundles or of one bundle, sorted by bundle and plugin. With `q` it lists those that match, best first; `limit`, `after` and `before` cut pages. `format` selects the tool format of a model provider; `losses` lists what that format cannot express.',
    scope: 'plugins:read',
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
