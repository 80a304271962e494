import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { writeBundle } from '../../packages/cli/src/bundles/write-bundle.ts';
import type { ImportOptions } from '../../packages/importers/src/openapi/import-openapi.ts';
import { importOpenApi } from '../../packages/importers/src/testing/import-openapi.suite.ts';
import type { CompiledPlugin } from '../../packages/server/src/tools/catalogue/catalogue.ts';
import { openWorld } from '../bundles/bundle-fixture.ts';
import { createRandom, generateValue } from '../bundles/generate-input.ts';
import { startMock } from './prism.ts';

export interface ImportedDocument {
  /** Path of the OpenAPI document. */
  readonly file: string;
  readonly options?: ImportOptions;
  /** Number of generated calls of each operation. */
  readonly calls: number;
  /** Share of the operations, 0 to 1, that must be imported. The others are reported. */
  readonly leastImported: number;
}

const seed = 20_261_121;
/** Operations of all documents that this process has tested. */
export const totals = { operations: 0, imported: 0 };

/**
 * Imports the document, loads the bundle and sends generated calls to a mock that validates them against the document.
 */
export function testImport({ file, options, calls, leastImported }: ImportedDocument): void {
  test(`${basename(file)}: every operation is imported or reported, the bundle loads, and its calls match the API`, async (t) => {
    const result = importOpenApi(await readFile(file, 'utf8'), options);
    const { report } = result;
    assert.equal(report.imported.length + report.skipped.length, report.operations);
    totals.operations += report.operations;
    totals.imported += report.imported.length;
    assert.ok(report.imported.length / report.operations >= leastImported);
    for (const { operation, reason } of report.skipped) t.diagnostic(`not imported: ${operation}: ${reason}`);

    const bundles = await temporaryFolder(t);
    await writeBundle(bundles, result);
    const urls = [...result.plugins.values()].map(({ request }) => String(Object(request).url));
    const mock = await startMock(t, file, commonPath(result.report.imported, urls));
    const world = await openWorld({ folder: bundles, upstream: mock.origin, grantsTokens: true });
    t.after(() => world.close());
    assert.deepEqual(world.catalogue.failures, []);

    const bundle = world.catalogue.findBundle(result.bundle.id) ?? assert.fail('the bundle is loaded');
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

/**
 * Returns an input that matches the schema of the plugin. The generator ignores rules between members, so it may need
 * several attempts.
 */
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

/** Returns the path that the server address adds to the paths of the document. */
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
