import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createLogger } from '../../platform/log/logger.ts';
import { temporaryFolder } from '../../platform/testing/temporary-folder.ts';
import { loadCatalogue } from '../catalogue/load/load-catalogue.ts';
import { createToolboxes } from './toolbox.ts';

const text = { type: 'string', description: 'Any text.' };
const plain = { type: 'object', properties: { a: text } };

interface PluginMembers {
  readonly input?: object;
  readonly output?: object;
  readonly effects?: string;
}

/** Loads a real catalogue of generated bundles: the special members of each plugin, by bundle id and plugin id. */
async function load(t: TestContext, bundles: Record<string, Record<string, PluginMembers>>, hosts: string[] = []) {
  const folder = await temporaryFolder(t);
  for (const [id, plugins] of Object.entries(bundles)) {
    await mkdir(join(folder, id));
    const about = { name: id, description: 'For a test.' };
    const bundle = { id, ...about, version: '1.2.3', provider: 'x', developer: 'x', hosts };
    await writeFile(join(folder, id, 'bundle.yaml'), JSON.stringify(bundle));
    await writeFile(join(folder, id, 'run.ts'), 'export const run = () => ({});\n');
    for (const [pluginId, { input = plain, output = plain, effects = 'read' }] of Object.entries(plugins)) {
      const schemas = { input_schema: input, output_schema: output };
      const plugin = { id: pluginId, ...about, ...schemas, effects, idempotent: true, handler: 'run.ts' };
      await writeFile(join(folder, id, `${pluginId}.yaml`), JSON.stringify(plugin));
    }
  }
  const logger = createLogger('silent');
  const options = { folders: [folder], capabilities: { handlers: 'process' as const }, publicUrl: 'http://x', logger };
  const catalogue = await loadCatalogue(options);
  assert.deepEqual(catalogue.failures, []);
  return catalogue;
}

test('tools have names that every client accepts, in the order of the catalogue, and identify their plugin', async (t) => {
  const long = 'p'.repeat(64);
  const catalogue = await load(t, { zeta: { b: {}, a: {} }, alpha: { [long]: {}, x__y: {} }, alpha__x: { y: {} } });
  const { all, ofBundle } = createToolboxes(catalogue, createLogger('silent'));
  assert.equal(all.tools.length, 5);
  assert.equal(new Set(all.tools.map(({ name }) => name)).size, 5, 'alpha/x__y and alpha__x/y are two');
  for (const { name } of all.tools) assert.match(name, /^[a-zA-Z][a-zA-Z0-9_-]{0,59}$/);
  assert.deepEqual(
    all.tools.map(({ name }) => all.findPlugin(name)).map((plugin) => [plugin?.bundle.id, plugin?.id]),
    [
      ['alpha', long],
      ['alpha', 'x__y'],
      ['alpha__x', 'y'],
      ['zeta', 'a'],
      ['zeta', 'b'],
    ],
  );
  assert.deepEqual(
    ofBundle.get('zeta')?.tools.map(({ name }) => name),
    ['a', 'b'],
  );
  const [shortened] = ofBundle.get('alpha')?.tools ?? [];
  assert.match(shortened?.name ?? '', /^p{49}_[0-9a-f]{10}$/);
  assert.equal(ofBundle.get('alpha')?.findPlugin(shortened?.name ?? '')?.id, long);
  assert.equal(all.findPlugin('zeta__c'), undefined);
  assert.deepEqual(createToolboxes(catalogue, createLogger('silent')).all.tools, all.tools, 'the same each time');
});

test('a name that two plugins share goes to the first, and the log names the second', async (t) => {
  const catalogue = await load(t, { one: { same: {} }, two: { same: {} } });
  const [one, two] = [...catalogue.bundles.values()];
  assert.ok(one && two);
  // Two bundles with the same id cannot be loaded, so this catalogue is built by hand.
  const bundles = new Map([
    ['one', one],
    ['other', { ...two, id: 'one' }],
  ]);
  const describePlugin: typeof catalogue.describePlugin = (plugin, language) => ({
    ...catalogue.describePlugin(plugin, language),
    bundle_id: 'one',
  });
  const lines: unknown[] = [];
  const { all } = createToolboxes({ bundles, describePlugin }, { error: (...line: unknown[]) => lines.push(line) });
  assert.deepEqual(
    all.tools.map(({ name }) => name),
    ['one__same'],
  );
  assert.equal(all.findPlugin('one__same')?.bundle, one);
  assert.deepEqual(Reflect.get(Object((lines as unknown[][])[0]?.[0]), 'tool'), 'one__same');
});

test('a tool declares its effect and has plain schemas', async (t) => {
  const address = { type: 'object', properties: { city: text } };
  const input = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: { address },
    properties: {
      home: { $ref: '#/$defs/address', description: 'Where.' },
      id: text,
      name: { ...text, 'x-mcp-header': 'N' },
    },
    anyOf: [{ required: ['id'] }, { required: ['name'] }],
  };
  const catalogue = await load(t, { b: { p: { input, effects: 'destructive' } } }, ['api.example.com']);
  const [tool] = createToolboxes(catalogue, createLogger('silent')).all.tools;
  assert.deepEqual(tool?.annotations, {
    title: 'b',
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: true,
    openWorldHint: true,
  });
  assert.deepEqual(tool?._meta, { 'quartermaster/plugin': { bundle_id: 'b', plugin_id: 'p', version: '1.2.3' } });
  const schema = tool?.inputSchema ?? {};
  assert.equal(Reflect.get(schema, 'type'), 'object');
  assert.equal(tool?.outputSchema?.type, 'object');
  assert.doesNotMatch(JSON.stringify(schema), /\$ref|\$defs|\$schema|"anyOf"|x-mcp-header/);
  assert.deepEqual(Reflect.get(Object(Reflect.get(schema, 'properties')), 'home'), {
    ...address,
    description: 'Where.',
  });
});
