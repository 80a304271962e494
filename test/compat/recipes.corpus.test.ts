import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { parse } from 'yaml';
import type { SentRequest } from '../../bench/piece-verdicts.ts';
import { writeBundle } from '../../packages/cli/src/bundles/write-bundle.ts';
import { applyRecipe, listRecipes, readRecipe } from '../../packages/importers/src/recipes/recipes.ts';
import { schemaChecks } from '../../packages/server/src/app/authoring/authoring.ts';
import { temporaryFolder } from '../../packages/server/src/platform/testing/temporary-folder.ts';
import { openWorld } from '../bundles/bundle-fixture.ts';
import { corpusRoot } from '../support/corpus.ts';
import { judgeBy, receivedFor } from './judge-requests.ts';

/** Applies each recipe to the document of its vendor, and compares the request of every example with that document. */
interface Source {
  readonly document: string;
  readonly server?: string;
  /** By id, a part of the error for a plugin whose example only the document refuses. */
  readonly faults?: Readonly<Record<string, string>>;
}
const documents: Readonly<Record<string, Source>> = parse(
  readFileSync(join(import.meta.dirname, 'recipe-documents.yaml'), 'utf8'),
);
const totals = { recipes: 0, plugins: 0, accepted: 0 };
after(() => console.log(`${totals.recipes} recipes: ${totals.accepted} of ${totals.plugins} requests are accepted`));
const never = new AbortController().signal;

for (const name of listRecipes()) {
  test(`the recipe ${name} fits its document, which accepts the request of every plugin`, async (t) => {
    const source = documents[name] ?? assert.fail('recipe-documents.yaml names its document');
    const { document, server, faults = {} } = source;
    const recipe = readRecipe(name);
    const file = join(corpusRoot, 'vendors', document);
    const site = /^https:\/\/[^/]*\{/.test(recipe.server)
      ? `https://${new URL(recipe.server.replaceAll(/[{}]/g, '')).host}`
      : undefined;
    const imported = applyRecipe(await readFile(file, 'utf8'), recipe, schemaChecks, { server: site });
    for (const note of imported.report.notes) t.diagnostic(note);
    const folder = await temporaryFolder(t);
    await writeBundle(folder, imported);
    const world = await openWorld({ folder });
    t.after(() => world.close());
    assert.deepEqual(world.catalogue.failures, []);
    const bundle = world.catalogue.findBundle(recipe.bundle.id) ?? assert.fail('the bundle is loaded');
    const credentials = credentialsFor(bundle.manifest.credentials_schema);
    const sent: SentRequest[] = [];
    const wrong: string[] = [];
    for (const { id, manifest } of bundle.plugins.values()) {
      const [example] = manifest.examples ?? [];
      assert.ok(example, `${id} has an example`);
      world.willAnswer({ status: 200, contentType: 'application/json', body: '{}' });
      const request = { bundle_id: bundle.id, plugin_id: id, input_params: example.input, credentials };
      const { outcome } = await world.executor.execute(request, never);
      // Members that are absent from an answer are null or an empty list.
      if (outcome.kind !== 'succeeded' || outcome.violations.length > 0)
        wrong.push(`${id}: an empty answer gives ${JSON.stringify(outcome).slice(0, 300)}`);
      sent.push(...receivedFor(world.received, id, manifest.request?.url ?? ''));
    }
    assert.deepEqual(wrong, []);
    assert.equal(sent.length, bundle.plugins.size);
    const verdicts = (await judgeBy(file, { server, judged: sent })) ?? assert.fail('the document has the requests');
    totals.recipes += 1;
    totals.plugins += sent.length;
    totals.accepted += verdicts.accepted;
    t.diagnostic(`${verdicts.accepted} of ${sent.length} requests are accepted`);
    const refused = verdicts.refused.map((verdict) => {
      const [id = ''] = verdict.split(':');
      return verdict.includes(faults[id] ?? `no fault of ${id}`) ? id : verdict;
    });
    assert.deepEqual([...refused, ...verdicts.unknown].sort(), Object.keys(faults).sort());
  });
}

/** An example of the schema where the document describes the form of the credential. */
function credentialsFor(schema: object | undefined): Record<string, string> {
  const properties = Object.entries<{ examples?: readonly unknown[] }>(
    Object(Reflect.get(Object(schema), 'properties')),
  );
  return Object.fromEntries(
    properties.map(([name, { examples }]) => [name, String(examples?.[0] ?? `secret-of-${name.toLowerCase()}`)]),
  );
}
