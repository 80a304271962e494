import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Schema } from '../scripts/reference/api-types.ts';
import { describePythonOperations, listPublicOperations, schemasOf } from '../scripts/reference/python-operations.ts';
import { describePythonTypes } from '../scripts/reference/python-types.ts';

const text: Schema = { type: 'string' };

/** Returns the generated type of the member `it` of a class. */
function typeOf(it: Schema): string {
  const generated = describePythonTypes({ Thing: { type: 'object', properties: { it }, required: ['it'] } });
  return /class Thing\(TypedDict\):\n {4}it: (.*)\n/.exec(generated)?.[1] ?? generated;
}

test('each kind of schema becomes its Python type', () => {
  const cases: ReadonlyArray<readonly [schema: Schema, type: string]> = [
    [{}, 'Any'],
    [text, 'str'],
    [{ type: 'integer' }, 'int'],
    [{ type: ['number', 'null'] }, 'float | None'],
    [{ const: 200 }, 'Literal[200]'],
    [{ const: true }, 'Literal[True]'],
    [{ enum: ['a', 'b"'] }, 'Literal["a", "b\\""]'],
    [{ type: 'array', items: { anyOf: [text, { type: 'null' }] } }, 'list[str | None]'],
    [{ oneOf: [text, { $ref: '#/components/schemas/Other' }] }, 'str | Other'],
    [{ type: 'object' }, 'dict[str, Any]'],
    [{ type: 'object', additionalProperties: { type: 'boolean' } }, 'dict[str, bool]'],
    [{ type: 'object', properties: { a: text } }, 'ThingIt'],
  ];
  assert.deepEqual(
    cases.map(([schema]) => typeOf(schema)),
    cases.map(([, type]) => type),
  );
  assert.throws(() => typeOf({ allOf: [text] }), /allOf/);
  assert.throws(() => typeOf({ type: 'object', properties: { 'a-b': text } }), /cannot name: a-b/);
});

test('optional members are in a separate class, and a union of classes is an alias', () => {
  const generated = describePythonTypes({
    Thing: { type: 'object', properties: { a: text, b: { type: 'integer' } }, required: ['a'], description: 'Of "us"' },
    Choice: { anyOf: [{ $ref: '#/components/schemas/Thing' }, { $ref: '#/components/schemas/Thing2' }] },
  });
  assert.match(generated, /class _ThingRequired\(TypedDict\):\n {4}a: str\n/);
  assert.match(generated, /class Thing\(_ThingRequired, total=False\):\n {4}"""Of "us" """\n {4}b: int\n/);
  assert.match(generated, /^Choice = Union\["Thing", "Thing2"\]$/m);
  assert.match(generated, /^ErrorCode = Literal\[\n {4}"INVALID_REQUEST",$/m);
});

test('the table contains only operations for an API key, with what a request needs', () => {
  const operation = (operationId: string, more: object = {}) => ({ operationId, security: [{ apiKey: [] }], ...more });
  const schema = { $ref: '#/components/schemas/Thing' };
  const document = {
    paths: {
      '/v1/things': {
        get: operation('listThings', { parameters: [{ name: 'limit', in: 'query' }] }),
        post: operation('createThing', { requestBody: { content: { 'application/json': { schema } } } }),
      },
      '/v1/uploads': { post: operation('upload', { parameters: [{ name: 'idempotency-key', in: 'header' }] }) },
      '/v1/session': { get: operation('getSession', { security: [{ session: [] }] }) },
      '/v1/setup': { post: operation('setUp', { security: [] }) },
      '/plugins/v1/{*}': { get: operation('readPluginsAddress') },
    },
  };
  const operations = listPublicOperations('files', document);
  const table = describePythonOperations(operations).replace(/\s+/g, ' ');
  assert.deepEqual(
    [...table.matchAll(/"(\w+)": Operation\(/g)].map(([, id]) => id),
    ['listThings', 'createThing', 'upload'],
  );
  assert.match(table, /"listThings": Operation\( "GET", "\/v1\/things", \("files",\), True, \("limit",\), None, \)/);
  assert.match(table, /"createThing": Operation\( "POST", "\/v1\/things", \("files",\), False, \(\), "Thing", \)/);
  assert.match(table, /"upload": Operation\( "POST", "\/v1\/uploads", \("files",\), True, \(\), None, \)/);
  assert.deepEqual(
    Object.keys(
      schemasOf(operations, { Thing: { items: { $ref: '#/components/schemas/Part' } }, Part: text, Other: text }),
    ),
    ['Thing', 'Part'],
  );
});
