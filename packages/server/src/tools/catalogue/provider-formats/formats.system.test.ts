import assert from 'node:assert/strict';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { definitionFormats, type Plugin } from '@quartermaster/contract';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { load } from '../load/testing/bundle-folder.suite.ts';
import { createSchemaCompiler } from '../schema/compile-schema.ts';
import { functionFormats } from './formats.ts';
import { nastyPlugins } from './testing/hostile-plugins.suite.ts';
import { assertTaken } from './testing/provider-rules.suite.ts';
import { toolName } from './tool-name.ts';

const recordedBundles = new Set([
  ...['arithmetic', 'arxiv_search', 'calculator', 'exchangerate_api', 'github', 'google_search', 'open_weather'],
  ...['qr_code_generator', 'random_number_generator', 'stack_overflow', 'time', 'wikipedia'],
]);
const catalogue = await load(resolve(import.meta.dirname, '../../../../../../bundles'));
const own = [...catalogue.bundles.values()].flatMap(({ callsOut, plugins }) =>
  [...plugins.values()].map((plugin) => ({ plugin: catalogue.describePlugin(plugin, 'en'), reachesOut: callsOut })),
);
/**
 * The definitions of these bundles are recorded completely, which is enough to show every change of a format. The rules
 * of the providers check the others.
 */
const recorded = own.filter(({ plugin }) => recordedBundles.has(plugin.bundle_id));
const nasty = nastyPlugins.map((plugin) => ({ plugin, reachesOut: true }));
const define = (format: (typeof definitionFormats)[number], plugin: Plugin) =>
  functionFormats[format]({ plugin, reachesOut: true });
const findNasty = (id: string) => nastyPlugins.find(({ plugin_id }) => plugin_id === id) ?? assert.fail(id);
/** Whether a definition that the format cannot express falls back to another format, and reports this. */
const fallback = (format: string, losses: readonly { kind: string }[]) =>
  losses.some(({ kind }) => kind === 'unsupported') && format !== 'taskingai';

/** Only a Notion database knows the names of its properties and how they are filtered, so these inputs are open objects. */
const openPlugins: readonly string[] = ['create_row', 'update_row', 'query_data_source'];
const isOpen = (plugin: Plugin) => plugin.bundle_id === 'notion' && openPlugins.includes(plugin.plugin_id);

/** Returns one line per plugin, so that a difference shows which plugins changed. */
const toLines = (list: unknown) => (Array.isArray(list) ? list.map((item) => JSON.stringify(item)).join('\n') : '');

for (const format of definitionFormats) {
  test(`the definitions of every plugin in ${format} match the recorded ones`, (t) => {
    const definitions = [...recorded, ...nasty].map(({ plugin, reachesOut }) => ({
      plugin: `${plugin.bundle_id}/${plugin.plugin_id}`,
      ...functionFormats[format]({ plugin, reachesOut }),
    }));
    t.assert.fileSnapshot(definitions, join(import.meta.dirname, 'golden', `${format}.jsonl`), {
      serializers: [toLines],
    });
  });

  test(`the definition of every plugin in ${format} follows the rules of the provider, or is marked as unsupported`, () => {
    let accepted = 0;
    for (const { plugin, reachesOut } of [...own, ...nasty]) {
      const { definition, losses } = functionFormats[format]({ plugin, reachesOut });
      if (fallback(format, losses)) continue;
      assertTaken(format, definition);
      accepted += 1;
    }
    assert.ok(accepted >= own.length, `${accepted} were taken`);
  });

  test(`${format} supports every plugin of ours without an open object`, () => {
    for (const { plugin } of own.filter(({ plugin }) => !isOpen(plugin))) {
      const unsupported = define(format, plugin).losses.filter(({ kind }) => kind === 'unsupported');
      assert.deepEqual(unsupported, [], `${plugin.bundle_id}/${plugin.plugin_id}`);
    }
  });
}

test('every keyword of an input that a format does not support is reported as a loss', () => {
  for (const format of definitionFormats) {
    const { losses, definition } = define(format, findNasty('bounds'));
    const json = JSON.stringify(definition);
    for (const keyword of ['uniqueItems', 'multipleOf', 'exclusiveMinimum', 'minLength', 'examples', 'default']) {
      const isCarried = json.includes(`"${keyword}":`);
      const isReported = losses.some(({ path }) => path.endsWith(`/${keyword}`));
      assert.notEqual(isCarried, isReported, `${format} ${keyword}`);
    }
  }
});

test('a strict definition accepts every input of the plugin, with null for omitted members', () => {
  const compiler = createSchemaCompiler();
  for (const { plugin } of own.filter(({ plugin }) => !isOpen(plugin))) {
    const { definition } = define('openai-strict', plugin);
    const { parameters } = definition.function as { parameters: { properties: object } }; // the shape of the format
    const nulls = Object.fromEntries(Object.keys(parameters.properties).map((name) => [name, null]));
    const found = catalogue.findPlugin(plugin.bundle_id, plugin.plugin_id);
    for (const { input } of found?.manifest.examples ?? []) {
      const full = { ...nulls, ...input };
      const check = new Ajv2020({ strict: false, formats: {}, validateFormats: false }).compile(parameters);
      assert.ok(check(full), `${plugin.plugin_id} ${JSON.stringify(check.errors)}`);
      assert.deepEqual(compiler.compileInput(() => plugin.input_schema)(full).violations, [], plugin.plugin_id);
    }
  }
});

test('references are resolved, and a recursive schema stays a definition', () => {
  const flat = JSON.stringify(define('anthropic', findNasty('references')).definition);
  assert.ok(!flat.includes('$ref'), flat);
  const { definition } = define('anthropic', findNasty('recursive'));
  assert.match(JSON.stringify(definition), /"items":\{"\$ref":"#\/\$defs\/node"\}/);
  new Ajv2020({ strict: false }).compile(definition.input_schema as object); // throws for a reference to nothing
});

test('nested references do not multiply: the result stays small', () => {
  const levels = Array.from({ length: 25 }, (_, at) => {
    const next = at === 24 ? { type: 'string' } : { $ref: `#/$defs/l${at + 1}` };
    return [`l${at}`, { type: 'object', properties: { a: next, b: next } }];
  });
  const schema = { type: 'object', $defs: Object.fromEntries(levels), properties: { a: { $ref: '#/$defs/l0' } } };
  for (const format of definitionFormats) {
    const { definition } = define(format, { ...findNasty('references'), input_schema: schema });
    assert.ok(JSON.stringify(definition).length < 400_000, format);
  }
});

test('names are unique among bundles and within the length limit of every provider', () => {
  const ids = [
    ['a', 'b__c'],
    ['a__b', 'c'],
    ['a', 'b'],
    ['x'.repeat(64), 'y'.repeat(64)],
    ['x'.repeat(64), 'z'.repeat(64)],
  ] as const;
  const names = ids.map(([bundle, plugin]) => toolName(bundle, plugin));
  assert.equal(new Set(names).size, ids.length);
  for (const name of names) assert.match(name, /^[a-z][a-z0-9_]{0,59}$/);
  assert.equal(toolName('open_weather', 'get_current_weather'), 'open_weather__get_current_weather');
});

test('a name that is too long keeps the plugin, then its start and its end', () => {
  const plugin = 'list_pull_requests_of_commit';
  assert.match(
    toolName('imported_interface_of_a_large_service', plugin),
    /^imported_interface___?list_pull_requests_of_commit_[0-9a-f]{10}$/,
  );
  const long = `actions_${'x'.repeat(40)}_delete_secret`;
  const name = toolName('imported', long);
  assert.match(name, /^imp__actions_x+_x+_delete_secret_[0-9a-f]{10}$/);
  assert.equal(name.length, 60);
});

test('openai-responses has the members of a strict function beside its type', () => {
  for (const { plugin } of own) {
    const { function: members } = define('openai-strict', plugin).definition;
    assert.deepEqual(define('openai-responses', plugin).definition, { type: 'function', ...Object(members) });
  }
});

test('the flat maps are those that the clients of TaskingAI read', () => {
  const { definition, losses } = define(
    'taskingai',
    own.find(({ plugin }) => plugin.plugin_id === 'add')?.plugin ?? assert.fail(),
  );
  assert.deepEqual(Object.keys(definition), [
    ...['object', 'bundle_id', 'plugin_id', 'name', 'description', 'input_schema', 'output_schema'],
  ]);
  const parameters = Object.values(definition.input_schema as Record<string, { type: string; required: boolean }>);
  assert.deepEqual(
    parameters.map(({ type, required }) => [type, required]),
    [
      ['number', true],
      ['number', true],
    ],
  );
  assert.deepEqual(losses, []);
});
