import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type ImportOptions, importOpenApi } from '../../packages/cli/src/openapi/import-openapi.ts';
import { writeBundle } from '../../packages/cli/src/openapi/write-bundle.ts';
import type { CompiledPlugin } from '../../packages/server/src/catalogue/catalogue.ts';
import { openWorld } from './bundle-fixture.ts';
import { createRandom, generateValue } from './generate-input.ts';
import { startMock } from './prism.ts';

/** Documents of third parties, in the order of their size. */
const theirs = resolve(import.meta.dirname, '../../../shared/openapi');
const documents: ReadonlyArray<{ readonly file: string; readonly options?: ImportOptions; readonly calls: number }> = [
  { file: join(import.meta.dirname, 'every-style.openapi.yaml'), calls: 5 },
  { file: 'tictactoe.3.1.yaml', options: { server: 'https://tictactoe.example.com' }, calls: 5 },
  { file: 'uspto.3.0.yaml', calls: 5 },
  { file: 'petstore-expanded.3.0.json', calls: 5 },
  { file: 'uber.2.0.json', calls: 5 },
  { file: 'deepl.3.yaml', calls: 2 },
  { file: 'twilio_messaging_v1.3.0.json', calls: 2 },
  { file: 'slack_web.2.0.json', calls: 2 },
];
const seed = 20_261_121;
const totals = { operations: 0, imported: 0 };

for (const { file, options, calls } of documents) {
  test(`${basename(file)}: every operation is imported or told, the bundle loads, and its calls are what the API takes`, async (t) => {
    const source = resolve(theirs, file);
    const made = importOpenApi(await readFile(source, 'utf8'), options);
    const { report } = made;
    assert.equal(report.imported.length + report.skipped.length, report.operations);
    if (source.startsWith(theirs)) {
      totals.operations += report.operations;
      totals.imported += report.imported.length;
      assert.ok(report.imported.length / report.operations >= 0.98);
    }
    for (const { operation, reason } of report.skipped) t.diagnostic(`not imported: ${operation}: ${reason}`);

    const bundles = await temporaryFolder(t);
    await writeBundle(bundles, made);
    const urls = [...made.plugins.values()].map(({ request }) => String(Object(request).url));
    const mock = await startMock(t, source, commonPath(made.report.imported, urls));
    const world = await openWorld({ folder: bundles, upstream: mock.origin, grantsTokens: true });
    t.after(() => world.close());
    assert.deepEqual(world.catalogue.failures, []);

    const bundle = world.catalogue.findBundle(made.bundle.id) ?? assert.fail('the bundle is loaded');
    assert.equal(bundle.plugins.size, report.imported.length);
    const credentials = credentialsFor(bundle.manifest.credentials_schema);
    const random = createRandom(seed);
    t.diagnostic(`seed ${seed}`);
    const refused: string[] = [];
    let called = 0;
    for (const plugin of bundle.plugins.values()) {
      for (let count = 0; count < calls; count += 1) {
        const input = validInput(plugin, random);
        const request = { bundle_id: bundle.id, plugin_id: plugin.id, input_params: input, credentials };
        const { outcome } = await world.executor.execute(request, AbortSignal.timeout(20_000));
        const [judgement, ...more] = mock.take();
        assert.equal(more.length, 0);
        called += 1;
        if (judgement === undefined) refused.push(`${plugin.id}: nothing was sent: ${JSON.stringify(outcome)}`);
        else if (judgement.refusal !== undefined) refused.push(`${plugin.id} ${judgement.url}: ${judgement.refusal}`);
      }
    }
    t.diagnostic(`${called - refused.length} of ${called} calls accepted`);
    for (const line of refused.slice(0, 10)) t.diagnostic(line.slice(0, 700));
    assert.ok(called >= report.imported.length);
    assert.ok((called - refused.length) / called >= 0.95, refused.slice(0, 5).join('\n'));
  });
}

test('nearly all operations of all documents are imported', (t) => {
  t.diagnostic(`${totals.imported} of ${totals.operations}`);
  assert.ok(totals.operations > 290);
  assert.ok(totals.imported / totals.operations >= 0.98);
});

/** An input the plugin's own schema takes; the generator knows no rule between parts, so it tries again. */
function validInput(plugin: CompiledPlugin, random: ReturnType<typeof createRandom>): Record<string, unknown> {
  let last: unknown;
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const value = generateValue(plugin.manifest.input_schema, random) as Record<string, unknown>; // the root is an object
    const { violations } = plugin.readInput(value);
    if (violations.length === 0) return value;
    last = [value, violations];
  }
  return assert.fail(`no valid input for ${plugin.id}: ${JSON.stringify(last).slice(0, 1_000)}`);
}

function credentialsFor(schema: object | undefined): Record<string, string> {
  const names = Object.keys(Object(Reflect.get(Object(schema), 'properties')));
  return Object.fromEntries(names.map((name) => [name, `secret-of-${name.toLowerCase()}`]));
}

/** What the server's address adds in front of the paths of the document. */
function commonPath(imported: ReadonlyArray<{ operation: string }>, urls: readonly string[]): string {
  const [first = ''] = urls;
  const path = imported[0]?.operation.split(' ')[1] ?? '';
  const { pathname } = new URL(first.replace(/[{}]/g, '_'));
  return pathname.slice(0, pathname.length - path.length);
}

async function temporaryFolder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'quartermaster-import-'));
  t.after(() => rm(path, { recursive: true, force: true }));
  return path;
}
