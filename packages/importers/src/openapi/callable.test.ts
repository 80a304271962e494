import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bundleFiles } from '../bundle-files.ts';
import { importOpenApi } from '../testing/import-openapi.suite.ts';
import type { ImportOptions } from './import-openapi.ts';

const done = { 200: { description: 'Done.', content: { 'application/json': { schema: { type: 'object' } } } } };

function documentOf(operation: object, root: object = {}, method = 'post'): string {
  return JSON.stringify({
    ...{ openapi: '3.0.3', info: { title: 'Things', version: '1' }, servers: [{ url: 'https://api.things.dev' }] },
    paths: { '/things': { [method]: { operationId: 'thing', responses: done, ...operation } } },
    ...root,
  });
}

function importOne(text: string, options?: ImportOptions) {
  const imported = importOpenApi(text, options);
  // Plain data, so that tests can read its members.
  return {
    report: imported.report,
    bundle: JSON.parse(JSON.stringify(imported.bundle)),
    plugin: JSON.parse(JSON.stringify(imported.plugins.get('thing'))),
  };
}

const serving = (...urls: string[]) => documentOf({}, { servers: urls.map((url) => ({ url })) });
const hostOf = (text: string, options?: ImportOptions) => importOne(text, options).bundle.hosts;

test('a server for tests, an example and a local server are never chosen silently', () => {
  for (const url of [
    ...['https://api-m.sandbox.things.dev', 'https://demo.things.dev', 'https://things.dev/sandbox/v1'],
    ...['https://things.example.com', 'http://localhost:6333', 'https://unknown', 'https://your-domain.things.dev'],
    ...['http://10.0.0.1', 'https://{tenant}.things.dev'],
  ]) {
    assert.throws(() => importOpenApi(serving(url)), /enter the server/, url);
    assert.deepEqual(hostOf(serving(url, 'https://live.things.dev')), ['live.things.dev'], url);
    assert.deepEqual(hostOf(serving(url), { server: 'https://mine.things.dev' }), ['mine.things.dev'], url);
  }
});

test('the report names the servers that were not chosen', () => {
  const { report } = importOne(
    serving('https://eu.things.dev', 'https://sandbox.things.dev', 'https://api.things.dev'),
  );
  assert.match(
    report.notes.join(),
    /go to https:\/\/api\.things\.dev\. The document also names https:\/\/eu\.things\.dev, https:\/\/sandbox/,
  );
});

test('an operation with a host of its own keeps it, also beside the server of the user', () => {
  const own = documentOf({ servers: [{ url: 'https://files.things.dev' }] });
  assert.deepEqual(hostOf(own, { server: 'https://eu.things.dev' }), ['files.things.dev']);
});

test('relative servers and token endpoints refer to the address of the document and to the server', () => {
  const address = 'https://things.dev/docs/openapi.json';
  assert.equal(importOne(serving('/api/v2'), { address }).plugin.request.url, 'https://things.dev/api/v2/things');
  const flows = { clientCredentials: { tokenUrl: '/v1/oauth2/token', scopes: {} } };
  const { bundle } = importOne(
    documentOf(
      { security: [{ oauth: [] }] },
      { components: { securitySchemes: { oauth: { type: 'oauth2', flows } } } },
    ),
  );
  assert.deepEqual(
    bundle.inject.map(({ token_url }: { token_url: string }) => token_url),
    ['https://api.things.dev/v1/oauth2/token'],
  );
});

test('schemes that no operation names become credentials, and so does a required header Authorization', () => {
  const securitySchemes = { key: { type: 'apiKey', in: 'header', name: 'X-Key' } };
  const unnamed = importOne(documentOf({}, { components: { securitySchemes } }));
  assert.deepEqual(unnamed.bundle.inject, [{ in: 'header', name: 'X-Key', credential: 'KEY' }]);
  const authorization = { in: 'header', name: 'Authorization', required: true, schema: { type: 'string' } };
  const { bundle } = importOne(documentOf({ parameters: [authorization] }));
  assert.deepEqual(bundle.inject, [{ in: 'header', name: 'Authorization', credential: 'AUTHORIZATION' }]);
  assert.deepEqual(bundle.credentials_schema?.required, ['AUTHORIZATION']);
  const bearer = { components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } } };
  const both = importOne(documentOf({ parameters: [authorization], security: [{ bearer: [] }] }, bearer));
  assert.deepEqual(Object.keys(both.bundle.credentials_schema?.properties ?? {}), ['ACCESS_TOKEN']);
});

test('credentials of secured operations are required, and a public operation says that it needs none', async () => {
  const securitySchemes = {
    ...{ key: { type: 'apiKey', in: 'query', name: 'key' }, token: { type: 'apiKey', in: 'query', name: 'token' } },
    bearer: { type: 'http', scheme: 'bearer' },
  };
  const both = [{ key: [], token: [] }];
  const importAll = (...securities: object[][]) => {
    const paths = Object.fromEntries(
      securities.map((security, at) => [`/p${at}`, { get: { operationId: `p${at}`, security, responses: done } }]),
    );
    const { bundle, plugins } = importOpenApi(documentOf({}, { paths, components: { securitySchemes } }));
    const { required, anyOf } = Object(bundle.credentials_schema);
    return [required ?? anyOf, [...plugins.values()].map(({ credentials }) => credentials)];
  };
  assert.deepEqual(importAll(both, both, []), [
    ['KEY', 'TOKEN'],
    [undefined, undefined, [[]]],
  ]);
  assert.deepEqual(importAll(both, [{ bearer: [] }], [...both, {}]), [
    [{ required: ['KEY', 'TOKEN'] }, { required: ['ACCESS_TOKEN'] }],
    [[['KEY', 'TOKEN']], [['ACCESS_TOKEN']], [[]]],
  ]);
  assert.deepEqual(importAll(both, [], []), [undefined, [[['KEY', 'TOKEN']], undefined, undefined]]);
  assert.deepEqual(importAll([...both, { bearer: [] }]), [
    [{ required: ['KEY', 'TOKEN'] }, { required: ['ACCESS_TOKEN'] }],
    [undefined],
  ]);
});

test('the call that checks credentials has those that most operations need, also beside public operations', () => {
  const securitySchemes = {
    key: { type: 'apiKey', in: 'query', name: 'key' },
    bearer: { type: 'http', scheme: 'bearer' },
  };
  const get = (operationId: string, security: object[]) => ({ get: { operationId, security, responses: done } });
  const paths = {
    ...{
      '/me': get('me', [{ key: [] }]),
      '/things': get('things', [{ key: [] }]),
      '/other': get('other', [{ bearer: [] }]),
    },
    ...{ '/user': get('user', [{ bearer: [] }]), '/about': get('about', []), '/three': get('three', [{ key: [] }]) },
  };
  const { bundle } = importOpenApi(documentOf({}, { paths, components: { securitySchemes } }));
  const inject = [{ in: 'query', name: 'key', credential: 'KEY' }];
  assert.deepEqual(bundle.verify, { request: { method: 'GET', url: 'https://api.things.dev/me', inject } });
});

test('a document that can answer 401 without describing credentials says so', () => {
  const { report } = importOne(documentOf({ responses: { ...done, 401: { description: 'No.' } } }));
  assert.match(report.notes.join(), /describes no credentials, but the API can answer 401/);
});

const closed = (...names: string[]) => ({
  type: 'object',
  additionalProperties: false,
  required: names,
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
});

const bodyOf = (schema: object, type = 'application/json') =>
  importOne(documentOf({ requestBody: { required: true, content: { [type]: { schema } } } }));

test('an allOf of closed objects has the properties of all of them', () => {
  const { body } = bodyOf({ allOf: [closed('a'), { allOf: [closed('b')] }] }).plugin.input_schema.properties;
  assert.deepEqual(
    [Object.keys(body.properties), body.required, body.additionalProperties, body.allOf],
    [['a', 'b'], ['a', 'b'], false, undefined],
  );
  const mixed = bodyOf({ allOf: [closed('a'), { oneOf: [{ required: ['b'] }] }] }).plugin.input_schema.properties.body;
  assert.equal(JSON.stringify(mixed).includes('additionalProperties'), false);
});

test('a closed object that requires a member that it does not describe accepts others', () => {
  const { body } = bodyOf({ ...closed('a'), required: ['b'], minProperties: 1 }).plugin.input_schema.properties;
  assert.equal(body.additionalProperties, undefined);
});

test('an optional form without fields is no body, and a form of several parts has the fields of all', () => {
  const form = 'application/x-www-form-urlencoded';
  const empty = { type: 'object', properties: {}, additionalProperties: false };
  const { plugin } = importOne(documentOf({ requestBody: { content: { [form]: { schema: empty } } } }, {}, 'delete'));
  assert.deepEqual(plugin.request, { method: 'DELETE', url: 'https://api.things.dev/things' });
  const parts = bodyOf({ allOf: [closed('a'), closed('b')] }, form).plugin;
  assert.deepEqual(parts.request.body, { a: '{a}', b: '{b}' });
});

test('a required header with one value or a default is sent as it is, and so is the type of a request without a body', () => {
  const parameters = [
    { in: 'header', name: 'Things-Version', required: true, schema: { type: 'string', default: '2026-01-01' } },
    { in: 'header', name: 'Content-Type', required: true, schema: { type: 'string', enum: ['application/json'] } },
    { in: 'query', name: 'kind', required: true, schema: { type: 'string', enum: ['a'] } },
    { in: 'query', name: 'size', required: true, schema: { type: 'string', default: 'a' } },
  ];
  const { plugin } = importOne(documentOf({ parameters }, {}, 'delete'));
  assert.deepEqual(plugin.request.headers, { 'Things-Version': '2026-01-01', 'Content-Type': 'application/json' });
  assert.deepEqual([plugin.request.query, plugin.input_schema.required], [{ kind: 'a', size: '{size}' }, ['size']]);
  const requestBody = { content: { 'multipart/form-data': { schema: closed('a') } } };
  const { headers } = importOne(documentOf({ parameters: parameters.slice(1, 2), requestBody })).plugin.request;
  assert.equal(headers, undefined);
});

test('headers of the connection are left out and noted', () => {
  const header = (name: string) => ({ in: 'header', name, schema: { type: 'string' } });
  const { plugin, report } = importOne(
    documentOf({
      parameters: [header('Host'), header('content-length'), header('Transfer-Encoding'), header('X-Own')],
    }),
  );
  assert.deepEqual(plugin.request.headers, { 'X-Own': '{X-Own}' });
  assert.deepEqual(Object.keys(plugin.input_schema.properties), ['X-Own']);
  assert.match(report.imported[0]?.notes.join() ?? '', /"Host" is left out.*"content-length".*"Transfer-Encoding"/);
});

test('an operation whose body or required input can have no value is skipped with the reason', () => {
  const typed = (type: string) => ({ type: 'object', required: ['a'], properties: { a: { type } } });
  const contradictory = { allOf: [typed('string'), { ...typed('integer'), additionalProperties: false }] };
  const reason = /no value is valid for "(?:body\.)?a", which must be string and integer/;
  assert.throws(() => bodyOf(contradictory), reason);
  const content = { 'application/json': { schema: contradictory } };
  assert.throws(() => importOne(documentOf({ requestBody: { content } })), reason);
  const number = bodyOf({ allOf: [typed('number'), { ...typed('integer'), additionalProperties: false }] });
  assert.equal(number.report.imported.length, 1);
});

test('a reference that refers to itself is named as such', () => {
  const schemas = { Loop: { $ref: '#/components/schemas/Back' }, Back: { $ref: '#/components/schemas/Loop' } };
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Loop' } } };
  const { report } = importOne(documentOf({ requestBody: { content } }, { components: { schemas } }));
  assert.match(report.imported[0]?.notes.join() ?? '', /Loop" refers only to itself or to other references/);
});

test('an enumeration of another type than its values can be satisfied', () => {
  const { a } = bodyOf({ type: 'object', properties: { a: { type: 'integer', enum: ['1', '2'] } } }).plugin.input_schema
    .properties;
  assert.deepEqual([a.type, a.enum], [undefined, ['1', '2']]);
});

test('a manifest is never larger than the catalogue reads', () => {
  const text = (seed: number) => `Наименование ${seed} `.repeat(8);
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`m${at}`, deep(at)]));
  const deep = (at: number) => ({
    type: 'object',
    properties: { a: { type: 'object', properties: { b: { type: 'string', description: text(at) } } } },
  });
  const schema = { type: 'object', properties: many(400) };
  const content = { 'application/json': { schema } };
  const imported = importOpenApi(
    documentOf({ requestBody: { content }, responses: { 200: { description: 'x', content } } }),
  );
  for (const file of bundleFiles(imported).values()) assert.ok(Buffer.byteLength(file) <= 256 * 1024);
});
