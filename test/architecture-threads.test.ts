import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';

/**
 * The packages that each thread loads, without those of Node.js. A thread has a heap of its own, so each package that it
 * loads costs memory once more: Kysely and the schemas of the contract together took up to 68 MiB in two threads.
 */
const packagesOf: Readonly<Record<string, readonly RegExp[]>> = {
  'access/accounts/password-guesses-thread': [/^@zxcvbn-ts\//],
  'storage/search-index/postgres/postgres-index-worker': [
    /^@orama\/stemmers\//,
    /^wink-porter2-stemmer$/,
    /\/filter-limits$/,
  ],
  'storage/sqlite/sqlite-worker': [/^@orama\/stemmers\//, /^wink-porter2-stemmer$/, /\/filter-limits$/],
  'tools/catalogue/load/bundle-reader-thread': [
    /^@quartermaster\/(?:contract|plugin-kit)$/,
    /^(?:@jmespath-community\/jmespath|ajv\/dist\/2020\.js|yaml|re2js)$/,
  ],
  'tools/execution/declarative/answer-thread': [/^(?:@jmespath-community\/jmespath|htmlparser2)$/],
  'tools/installation/import-thread': [
    /^@quartermaster\/(?:contract|plugin-kit|importers)/,
    /^(?:@jmespath-community\/jmespath|ajv\/dist\/2020\.js|fflate|re2js|yaml|yauzl)$/,
  ],
  'stores/search/vector-codes/vector-thread': [],
};
const server = resolve(import.meta.dirname, '../packages/server/src');

test('every thread is listed', () => {
  const started = globSync('**/*.ts', { cwd: server })
    .filter((file) => !/\.(?:test|suite|fixture)\.ts$|\/testing\//.test(file))
    .flatMap((file) =>
      [
        ...readFileSync(join(server, file), 'utf8').matchAll(/new Worker\(\s*moduleUrl\(import\.meta, '([^']+)'\)/g),
      ].map(([, to = '']) => join(dirname(file), to)),
    );
  assert.deepEqual(started.sort(), Object.keys(packagesOf).sort());
});

for (const [thread, allowed] of Object.entries(packagesOf)) {
  test(`the thread ${thread} loads only its packages`, () => {
    const unexpected = packagesFrom(resolve(server, `${thread}.ts`)).filter(
      ({ name }) => !allowed.some((pattern) => pattern.test(name)),
    );
    assert.deepEqual(unexpected, []);
  });
}

/** Follows the imports that stay at run time. @returns each package once, with one of the modules that import it */
function packagesFrom(entry: string): Array<{ readonly name: string; readonly importedBy: string }> {
  const found = new Map<string, string>();
  const reached = new Set([entry]);
  for (const file of reached) {
    const statements = readFileSync(file, 'utf8').matchAll(
      /^(?:import|export)\s+(?!type\s)(?:[^'";]*?\sfrom\s+)?'([^']+)';/gms,
    );
    for (const [, to = ''] of statements) {
      const target = resolve(dirname(file), to);
      if (to.startsWith('.')) {
        assert.ok(existsSync(target), `${file} imports ${to}`);
        reached.add(target);
      } else if (!to.startsWith('node:') && !found.has(to)) found.set(to, file.slice(server.length + 1));
    }
  }
  return [...found].map(([name, importedBy]) => ({ name, importedBy }));
}
