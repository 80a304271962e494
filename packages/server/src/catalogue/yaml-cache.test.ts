import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFolder } from './bundle-folder.suite.ts';
import { readYaml } from './read-yaml.ts';
import { openYamlCache } from './yaml-cache.ts';

const right = 'a: 1\nb: [x, {c: null}]\n';
const wrong = 'a: 1\na: 2\n';

test('what was read is read from the cache, with the same values and lines; what is wrong is told again', async (t) => {
  const file = join(await makeFolder(t, {}), 'cache', 'bundles.json');
  for (const round of ['first', 'second', 'third']) {
    const cache = await openYamlCache({ file });
    const [yaml, plain] = [cache.read(right), readYaml(right)];
    assert.ok('value' in yaml && 'value' in plain);
    assert.deepEqual(yaml.value, plain.value, round);
    assert.equal(yaml.lineOf(['b', '1', 'c']), 2);
    assert.deepEqual(cache.read(wrong), readYaml(wrong));
    // Whoever asked may add defaults to it.
    Reflect.set(Object(yaml.value), 'method', 'GET');
    await cache.keep();
  }
  const kept = JSON.parse(await readFile(file, 'utf8'));
  assert.deepEqual(Object.values(kept.texts), ['{"a":1,"b":["x",{"c":null}]}']);
});

test('a text is read from the cache indeed, by its content', async (t) => {
  const file = join(await makeFolder(t, {}), 'bundles.json');
  const first = await openYamlCache({ file });
  first.read(right);
  await first.keep();
  const kept = await readFile(file, 'utf8');
  await writeFile(file, kept.replace('null', '\\"from the cache\\"').replace('\\\\"', '\\"'));
  const yaml = (await openYamlCache({ file })).read(right);
  assert.ok('value' in yaml);
  assert.deepEqual(yaml.value, { a: 1, b: ['x', { c: 'from the cache' }] });
});

test('what came with the product is read from there and not kept again', async (t) => {
  const folder = await makeFolder(t, {});
  const [file, shipped] = [join(folder, 'bundles.json'), join(folder, 'shipped.json')];
  const first = await openYamlCache({ file: shipped });
  first.read(right);
  await first.keep();
  await writeFile(shipped, (await readFile(shipped, 'utf8')).replace('null', '7'));
  const cache = await openYamlCache({ file, shipped });
  const yaml = cache.read(right);
  assert.ok('value' in yaml);
  assert.deepEqual(yaml.value, { a: 1, b: ['x', { c: 7 }] });
  await cache.keep();
  await assert.rejects(readFile(file), { code: 'ENOENT' });
  const another = await openYamlCache({ file, shipped });
  another.read(right);
  another.read('c: 3\n');
  await another.keep();
  assert.deepEqual(Object.values(JSON.parse(await readFile(file, 'utf8')).texts), ['{"c":3}']);
});

for (const damage of ['', '{', '[]', '{"format":0,"texts":{}}', '{"format":1,"texts":{"x":1}}']) {
  test(`a cache file that holds ${JSON.stringify(damage)} is as none`, async (t) => {
    const folder = await makeFolder(t, { 'bundles.json': damage });
    const yaml = (await openYamlCache({ file: join(folder, 'bundles.json') })).read(right);
    assert.ok('value' in yaml);
    assert.deepEqual(yaml.value, { a: 1, b: ['x', { c: null }] });
  });
}
