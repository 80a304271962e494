import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { checkBundle } from '@quartermaster/server/authoring';
import { scaffoldBundle } from '../../../cli/src/bundles/scaffold.ts';
import { writeBundle } from '../../../cli/src/bundles/write-bundle.ts';
import { importOpenApi } from '../testing/import-openapi.suite.ts';

const inherited = [...Object.getOwnPropertyNames(Object.prototype), 'prototype'];
/** The catalogue refuses `__proto__` in manifests. */
const writable = inherited.filter((name) => name !== '__proto__').sort();

/** Creates an object with a member of each name. A literal would set the prototype instead of `__proto__`. */
function members<T>(create: (name: string) => T): Record<string, T> {
  return JSON.parse(`{${inherited.map((name) => `${JSON.stringify(name)}:${JSON.stringify(create(name))}`)}}`);
}

function documentOf(paths: object, components: object = {}): string {
  const info = { title: 'Names', version: '1' };
  return JSON.stringify({
    openapi: '3.0.3',
    ...{ info, servers: [{ url: 'https://api.things.dev' }], paths, components },
  });
}

const json = (schema: object) => ({ content: { 'application/json': { schema } } });
const done = { 200: { description: 'Done.', ...json({ type: 'object' }) } };

async function load(t: TestContext, text: string) {
  const imported = importOpenApi(text);
  const out = await mkdtemp(join(tmpdir(), 'quartermaster-names-'));
  t.after(() => rm(out, { recursive: true, force: true }));
  const folder = await writeBundle(out, imported);
  const { failures } = await checkBundle(folder);
  assert.deepEqual(failures, []);
  return { imported, files: await readdir(folder) };
}

test('an operationId that is a name of Object.prototype becomes a plugin with an id of its own', async (t) => {
  const paths = Object.fromEntries(
    inherited.map((operationId, index) => [`/${index}`, { get: { operationId, responses: done } }]),
  );
  const { imported, files } = await load(t, documentOf(paths));
  const ids = [...imported.plugins.keys()];
  assert.equal(new Set(ids).size, inherited.length);
  assert.ok(ids.every((id) => /^[a-z][a-z0-9_]*$/.test(id) && !(id in Object.prototype)));
  assert.deepEqual(imported.report.imported[0], { operation: 'GET /0', plugin_id: 'constructor_2', notes: [] });
  assert.deepEqual(files.sort(), ['bundle.yaml', 'import-report.json', ...ids.map((id) => `${id}.yaml`)].sort());
});

test('an id that no bundle or plugin can have is refused before a file is written', async (t) => {
  const out = await mkdtemp(join(tmpdir(), 'quartermaster-ids-'));
  t.after(() => rm(out, { recursive: true, force: true }));
  const text = documentOf({ '/a': { get: { operationId: 'a', responses: done } } });
  for (const id of ['__proto__', 'toString', 'hasOwnProperty', '', '..', '../a', 'A', 'a-b', 'a'.repeat(65)]) {
    const received = new RegExp(`received ${RegExp.escape(JSON.stringify(id))}`);
    await assert.rejects(writeBundle(out, importOpenApi(text, { id })), received);
    await assert.rejects(scaffoldBundle(out, id), received);
    if (id === '') continue;
    await assert.rejects(writeBundle(out, importOpenApi(text, { id: 'good', rename: { a: id } })), received);
  }
  assert.deepEqual(await readdir(out), []);
  const folder = await writeBundle(out, importOpenApi(text, { id: 'constructor', rename: { a: 'b' } }));
  assert.deepEqual((await checkBundle(folder)).failures, []);
});

test('parameters with names of Object.prototype are sent under their names', async (t) => {
  for (const place of ['query', 'header', 'cookie'] as const) {
    const parameters = inherited.map((name) => ({ name, in: place, schema: { type: 'array', items: {} } }));
    const { imported } = await load(
      t,
      documentOf({ '/a': { get: { operationId: 'a', parameters, responses: done } } }),
    );
    const request = Object(imported.plugins.get('a')?.request);
    const section = { query: 'query', header: 'headers', cookie: 'cookies' }[place];
    assert.deepEqual(Object.keys(request[section]).sort(), writable);
    assert.match(String(imported.report.imported[0]?.notes), /The parameter "__proto__" is left out/);
  }
  const path = `/${inherited.map((name) => `{${name}}`).join('/')}`;
  const parameters = inherited.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } }));
  const { imported } = await load(
    t,
    documentOf({ [path]: { get: { operationId: 'a', parameters, responses: done } } }),
  );
  const input = Object(imported.plugins.get('a')?.input_schema);
  assert.equal(Object.keys(input.properties).length, inherited.length);
});

test('schemas, properties, fields of forms and security schemes may have names of Object.prototype', async (t) => {
  const text = { type: 'string', description: 'A text.' };
  const schemas = members(() => ({ type: 'object', properties: members(() => text) }));
  const body = { type: 'object', properties: members((name) => ({ $ref: `#/components/schemas/${name}` })) };
  const form = { type: 'object', properties: members(() => text) };
  const securitySchemes = members((name) => ({ type: 'apiKey', in: 'header', name: `x-${name}` }));
  const posts: Record<string, object> = {
    '/json': { operationId: 'json', requestBody: json(body), responses: { 200: { description: 'D.', ...json(body) } } },
    '/form': {
      operationId: 'form',
      requestBody: {
        content: {
          'application/x-www-form-urlencoded': { schema: form, encoding: members(() => ({ explode: false })) },
        },
      },
      responses: done,
    },
    '/unknown': { operationId: 'unknown', security: [members(() => [])], responses: done },
  };
  const paths = Object.fromEntries(Object.entries(posts).map(([path, post]) => [path, { post }]));
  const { imported } = await load(t, documentOf(paths, { schemas, securitySchemes }));
  for (const id of ['json', 'form']) {
    const request = Object(imported.plugins.get(id)?.request);
    assert.deepEqual(Object.keys(request.body).sort(), writable, id);
  }
  assert.deepEqual(Object.keys(Object(imported.plugins.get('form')?.request).styles.form).sort(), writable);
  const { properties } = Object(imported.bundle.credentials_schema);
  assert.equal(Object.keys(properties).length, inherited.length);
  assert.equal(({} as Record<string, unknown>).description, undefined);
});

test('an import with a manifest that cannot be written leaves no folder behind', async (t) => {
  const out = await mkdtemp(join(tmpdir(), 'quartermaster-names-'));
  t.after(() => rm(out, { recursive: true, force: true }));
  const imported = importOpenApi(documentOf({ '/a': { get: { operationId: 'a', responses: done } } }));
  const plugins = new Map([...imported.plugins, ['b', { id: () => 'b' }]]);
  await assert.rejects(writeBundle(out, { ...imported, plugins }));
  assert.deepEqual(await readdir(out), []);
});
