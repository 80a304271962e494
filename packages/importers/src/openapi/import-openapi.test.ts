import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { checkBundle } from '@quartermaster/server/authoring';
import { writeBundle } from '../../../cli/src/bundles/write-bundle.ts';
import { importOpenApi } from '../testing/import-openapi.suite.ts';
import type { ImportOptions } from './import-openapi.ts';

const done = { 200: { description: 'Done.', content: { 'application/json': { schema: { type: 'object' } } } } };

/** Returns a document with one operation, by default `GET /things`. */
function documentOf(members: object, root: object = {}): string {
  return JSON.stringify({
    openapi: '3.0.3',
    info: { title: 'Things', version: '1.2' },
    servers: [{ url: 'https://api.things.dev/v1' }],
    paths: { '/things': { get: { operationId: 'listThings', responses: done, ...members } } },
    ...root,
  });
}

function posting(requestBody: object, responses: object = done): string {
  return documentOf({}, { paths: { '/things': { post: { operationId: 'post', requestBody, responses } } } });
}

function importOne(text: string, options?: ImportOptions) {
  const imported = importOpenApi(text, options);
  const [[id, plugin] = assert.fail('nothing was imported')] = imported.plugins;
  // Converts the plugin to plain data, so that tests can read its members.
  return { ...imported, id, plugin: JSON.parse(JSON.stringify(plugin)) };
}

const inQuery = (name: string, schema: object, more: object = {}) => ({ name, in: 'query', schema, ...more });

async function assertLoads(t: TestContext, imported: ReturnType<typeof importOpenApi>): Promise<string> {
  const out = await mkdtemp(join(tmpdir(), 'quartermaster-import-'));
  t.after(() => rm(out, { recursive: true, force: true }));
  const folder = await writeBundle(out, imported);
  assert.deepEqual((await checkBundle(folder)).failures, []);
  return out;
}

test('an operation becomes a plugin that describes its input, its output and its effect', async (t) => {
  const imported = importOne(
    documentOf({ summary: 'List things', parameters: [inQuery('page', { type: 'integer' })] }),
  );
  await assertLoads(t, imported);
  assert.equal(imported.id, 'list_things');
  assert.deepEqual(
    [imported.plugin.effects, imported.plugin.idempotent, imported.plugin.name],
    ['read', true, 'List things'],
  );
  assert.deepEqual(imported.plugin.input_schema.properties, { page: { type: 'integer', description: 'Page.' } });
  assert.deepEqual(imported.plugin.request, {
    method: 'GET',
    url: 'https://api.things.dev/v1/things',
    query: { page: '{page}' },
  });
  assert.deepEqual(imported.bundle.hosts, ['api.things.dev']);
  assert.equal(imported.bundle.version, '1.2.0');
});

test('names that become equal after replacing characters stay distinct, and are sent unchanged', async (t) => {
  const parameters = [
    inQuery('filter[name]', { type: 'string' }),
    inQuery('filter_name', { type: 'string' }),
    { ...inQuery('filter_name', { type: 'string' }), in: 'header' },
  ];
  const imported = importOne(documentOf({ parameters }));
  await assertLoads(t, imported);
  assert.deepEqual(imported.plugin.request.query, { 'filter[name]': '{filter_name}', filter_name: '{filter_name_2}' });
  assert.deepEqual(imported.plugin.request.headers, { filter_name: '{filter_name_3}' });
});

test('operations are chosen and renamed by either name; the others are in the report', () => {
  const item = {
    get: { operationId: 'getThing', responses: done },
    delete: { operationId: 'deleteThing', responses: done },
  };
  const text = documentOf({}, { paths: { '/a': item } });
  const { plugins, report } = importOpenApi(text, { operations: ['deleteThing'], rename: { delete_thing: 'remove' } });
  assert.deepEqual([...plugins.keys()], ['remove']);
  assert.equal(plugins.get('remove')?.effects, 'destructive');
  assert.deepEqual(report.skipped, [{ operation: 'GET /a', reason: 'not chosen' }]);
  assert.equal(report.operations, 2);
});

test('a relative server needs a base address, and a document without a server needs an address', () => {
  const relative = documentOf({}, { servers: [{ url: '/api/v2/' }] });
  assert.throws(() => importOpenApi(relative), /no absolute server URL; enter the server of the import/);
  const url = (text: string, server: string) => importOne(text, { server }).plugin.request.url;
  assert.equal(url(relative, 'https://a.example'), 'https://a.example/api/v2/things');
  assert.equal(url(documentOf({}, { servers: undefined }), 'https://a.example/b/'), 'https://a.example/b/things');
  const variables = { scheme: { default: 'http', enum: ['http', 'https'] }, port: { default: '8443' } };
  const templated = documentOf({}, { servers: [{ url: '{scheme}://a.things.dev:{port}/x', variables }] });
  assert.equal(importOne(templated).plugin.request.url, 'https://a.things.dev:8443/x/things');
});

const schemes = {
  bearer: { type: 'http', scheme: 'bearer' },
  oauth: { type: 'oauth2', flows: {} },
  basic: { type: 'http', scheme: 'basic' },
  key: { type: 'apiKey', in: 'query', name: 'key' },
  cookie: { type: 'apiKey', in: 'cookie', name: 'sid' },
  mutual: { type: 'mutualTLS' },
};

test('files are base64 in a form, as a whole body and in a response', async (t) => {
  const binary = { type: 'string', format: 'binary' };
  const form = {
    required: ['file'],
    properties: {
      file: { ...binary, description: 'A document.' },
      to: { type: 'string' },
      more: { type: 'array', items: binary },
    },
  };
  const answer = { 200: { description: 'The picture.', content: { 'image/png': { schema: binary } } } };
  const content = { 'multipart/form-data': { schema: { type: 'object', ...form } } };
  const imported = importOne(posting({ required: true, content }, answer));
  await assertLoads(t, imported);
  const { properties, required } = imported.plugin.input_schema as {
    properties: Record<string, object>;
    required: string[];
  };
  assert.deepEqual(Object.keys(properties), ['file', 'file_name', 'to', 'more', 'more_name']);
  assert.deepEqual([required, Reflect.get(properties.file ?? {}, 'description')], [['file'], 'A document. As base64.']);
  assert.deepEqual(imported.plugin.request, {
    ...{ method: 'POST', url: 'https://api.things.dev/v1/things', body_type: 'multipart' },
    body: { file: '{file}', to: '{to}', more: '{more}' },
    files: { file: { filename: '{file_name}' }, more: { filename: '{more_name}' } },
  });
  assert.deepEqual(imported.plugin.response, { format: 'base64', output: '{result: body}' });
  const bytes = { 'image/png': { schema: binary } };
  const raw = importOne(posting({ required: true, content: bytes }));
  await assertLoads(t, raw);
  const { body_type, body, headers } = Object(raw.plugin.request);
  assert.deepEqual([body_type, body, headers], ['base64', '{body}', { 'Content-Type': 'image/png' }]);
  const secret = { 'multipart/form-data': { schema: { type: 'object', properties: { api_key: { type: 'string' } } } } };
  assert.throws(() => importOpenApi(posting({ content: secret })), /its multipart form contains a credential/);
});

test('each security scheme becomes credentials and the place where they are sent', async (t) => {
  const expected: Record<string, unknown> = {
    bearer: { in: 'header', name: 'Authorization', credential: 'ACCESS_TOKEN', template: 'Bearer {credential}' },
    oauth: { in: 'header', name: 'Authorization', credential: 'ACCESS_TOKEN', template: 'Bearer {credential}' },
    basic: { in: 'basic', username: 'USERNAME', password: 'PASSWORD' },
    key: { in: 'query', name: 'key', credential: 'KEY' },
    cookie: { in: 'header', name: 'Cookie', credential: 'COOKIE', template: 'sid={credential}' },
  };
  for (const [name, injection] of Object.entries(expected)) {
    const imported = importOne(
      documentOf({ security: [{ [name]: [] }] }, { components: { securitySchemes: schemes } }),
    );
    await assertLoads(t, imported);
    assert.deepEqual(imported.bundle.inject, [injection], name);
    const { required, properties } = imported.bundle.credentials_schema as { required: string[]; properties: object };
    assert.deepEqual(required, Object.keys(properties));
  }
  const mutual = documentOf({ security: [{ mutual: [] }] }, { components: { securitySchemes: schemes } });
  assert.throws(() => importOpenApi(mutual), /needs credentials that a declarative plugin cannot send.*"mutual"/);
});

test('credentials that are optional, or needed by some operations only, are neither required nor sent by the others', () => {
  const paths = {
    '/a': { get: { operationId: 'a', security: [{ key: [] }, {}], responses: done } },
    '/b': { get: { operationId: 'b', security: [], responses: done } },
  };
  const { bundle, plugins } = importOpenApi(documentOf({}, { paths, components: { securitySchemes: schemes } }));
  assert.equal(Reflect.get(Object(bundle.credentials_schema), 'required'), undefined);
  assert.equal(bundle.inject, undefined);
  const inject = (id: string) => Reflect.get(Object(plugins.get(id)?.request), 'inject');
  assert.deepEqual([inject('a'), inject('b')], [[{ in: 'query', name: 'key', credential: 'KEY' }], undefined]);
});

test('a secret that a document declares as a parameter becomes a credential, in header, query and form', async (t) => {
  const token = { name: 'token', required: true, description: 'Authentication token.', schema: { type: 'string' } };
  for (const place of ['header', 'query']) {
    const imported = importOne(documentOf({ parameters: [{ ...token, in: place }] }));
    await assertLoads(t, imported);
    assert.deepEqual(imported.plugin.input_schema.properties, {});
    assert.deepEqual(imported.bundle.inject, [{ in: place, name: 'token', credential: 'TOKEN' }]);
  }
  const swagger = {
    swagger: '2.0',
    ...{ info: { title: 'Old', version: '1' }, host: 'old.things.dev', basePath: '/v1', schemes: ['http'] },
    paths: {
      '/post': {
        post: {
          operationId: 'post',
          consumes: ['application/x-www-form-urlencoded'],
          parameters: [
            { name: 'token', in: 'formData', type: 'string', required: true, description: 'Authentication token.' },
            { name: 'text', in: 'formData', type: 'string', required: true },
          ],
          responses: { 200: { description: 'ok' } },
        },
      },
    },
  };
  const imported = importOne(JSON.stringify(swagger));
  await assertLoads(t, imported);
  assert.deepEqual(imported.plugin.request.body, { text: '{text}' });
  assert.deepEqual(imported.bundle.inject, [{ in: 'form', name: 'token', credential: 'TOKEN' }]);
  // Credentials never travel unencrypted.
  assert.equal(imported.plugin.request.url, 'https://old.things.dev/v1/post');
  assert.match(imported.report.notes.join(), /is called by https:/);
});

test('schemas with circular references, dangling references and broken keywords still load', async (t) => {
  const node = { type: 'object', properties: { next: { $ref: '#/components/schemas/node' }, id: { type: 'string' } } };
  const odd = {
    type: 'object',
    required: ['kind', 'kind', 'missing'],
    properties: {
      kind: { type: 'string', enum: ['a', 'a', 'b'], default: 'a' },
      maybe: { type: 'string', nullable: true, example: { $id: 'not a schema' } },
      list: { type: 'array' },
      pattern: { type: 'string', pattern: '^(?=a)' },
      file: { type: 'file', minimum: 1, exclusiveMinimum: true },
      outside: { $ref: 'https://schemas.example.com/pet.json' },
      nowhere: { $ref: '#/components/schemas/nowhere' },
      self: { $ref: '#/components/schemas/self' },
      'a b': { type: 'string' },
      node: { $ref: '#/components/schemas/node' },
    },
  };
  const content = { 'application/json': { schema: odd } };
  const responses = { 200: { description: 'Odd.', content } };
  const schemas = { node, self: { $ref: '#/components/schemas/self' } };
  const parameters = [inQuery('node', { $ref: '#/components/schemas/node' }, { style: 'deepObject', explode: true })];
  const imported = importOne(documentOf({ parameters, responses }, { components: { schemas } }));
  await assertLoads(t, imported);
  const { properties, required } = imported.plugin.output_schema;
  assert.deepEqual(required, ['kind']);
  assert.deepEqual(properties.kind, { type: 'string', enum: ['a', 'b'], description: 'Default: "a".' });
  assert.deepEqual(properties.maybe.type, ['string', 'null']);
  const notes = imported.report.imported[0]?.notes.join('\n') ?? '';
  for (const note of [
    /pattern .* not checked/,
    /pet\.json" does not exist in this document/,
    /nowhere" does not exist in this document/,
    /"a b" is not an allowed property name/,
  ])
    assert.match(notes, note);
});

test('only the upper levels of an output schema that is too large are described, and the report mentions this', async (t) => {
  const deep = (level: number): object =>
    level === 0
      ? { type: 'string' }
      : { type: 'object', properties: { a: deep(level - 1), b: { type: 'array', items: deep(level - 1) } } };
  const responses = { 200: { description: 'Deep.', content: { 'application/json': { schema: deep(12) } } } };
  const imported = importOne(documentOf({ responses }));
  await assertLoads(t, imported);
  assert.match(imported.report.imported[0]?.notes.join() ?? '', /output: Described only to level \d/);
});

test('an output that is not an object becomes the member "result"; without content the output is the status', () => {
  const output = (responses: object) => {
    const { plugin } = importOne(documentOf({ responses }));
    return [plugin.response, Object.keys(plugin.output_schema.properties)];
  };
  const of = (type: string, schema: object) => ({ 201: { description: 'x', content: { [type]: { schema } } } });
  assert.deepEqual(output(of('application/json', { type: 'array', items: { type: 'string' } })), [
    { format: 'json', output: '{result: body}' },
    ['result'],
  ]);
  assert.deepEqual(output(of('application/vnd.api+json', { type: 'object', properties: { a: {} } })), [
    undefined,
    ['a'],
  ]);
  assert.deepEqual(output(of('text/csv', { type: 'string' })), [
    { format: 'text', output: '{result: body}' },
    ['result'],
  ]);
  assert.deepEqual(output(of('application/xml', {})), [{ format: 'xml', output: '{result: body}' }, ['result']]);
  assert.deepEqual(output({ 204: { description: 'x' } }), [{ format: 'text', output: '{status: status}' }, ['status']]);
});

test('a document that is not OpenAPI is refused with the reason', () => {
  assert.throws(() => importOpenApi('[]'), /must be a JSON or YAML object/);
  assert.throws(() => importOpenApi('{"a": 1}'), /must be OpenAPI 2\.0, 3\.0 or 3\.1/);
  assert.throws(() => importOpenApi('openapi: 4.0.0'), /must be OpenAPI/);
  assert.throws(() => importOpenApi(documentOf({}, { paths: {} })), /No operation of 0 can be imported/);
});

test('a folder of an earlier import is replaced; any other is left alone', async (t) => {
  const out = await assertLoads(t, importOpenApi(documentOf({})));
  await writeBundle(out, importOpenApi(documentOf({ operationId: 'renamed' })));
  assert.deepEqual((await readdir(join(out, 'things'))).sort(), ['bundle.yaml', 'import-report.json', 'renamed.yaml']);
  await rm(join(out, 'things', 'import-report.json'));
  await writeFile(join(out, 'things', 'mine.yaml'), 'id: mine');
  await assert.rejects(writeBundle(out, importOpenApi(documentOf({}))), /was not created by an import/);
});
