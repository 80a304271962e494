import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ApiDocument, describeApiTypes } from '../scripts/client-types/api-types.ts';

/** Returns the generated type of one schema. */
function typeOf(schema: object): string {
  const document = { paths: {}, components: { schemas: { Thing: schema } } } as ApiDocument;
  const text = describeApiTypes(document, { source: 'a.json', name: 'Api' });
  return (/export type Thing = (.*?);\n\n/s.exec(text)?.[1] ?? '').replace(/\s+/g, ' ');
}

const text = { type: 'string' };
const cases: ReadonlyArray<readonly [schema: object, type: string]> = [
  [{}, 'unknown'],
  [text, 'string'],
  [{ type: 'string', format: 'binary' }, 'Blob'],
  [{ type: 'integer' }, 'number'],
  [{ type: ['string', 'null'] }, 'string | null'],
  [{ type: 'string', enum: ['a', "it's"] }, `'a' | "it's"`],
  [{ const: 200 }, '200'],
  [{ type: 'array', items: { anyOf: [text, { type: 'null' }] } }, 'Array<string | null>'],
  [{ oneOf: [text, { type: 'boolean' }] }, 'string | boolean'],
  [{ allOf: [{ $ref: '#/components/schemas/A' }, { enum: ['a', 'b'] }] }, "(A) & ('a' | 'b')"],
  [{ type: 'object' }, '{ [name: string]: unknown }'],
  [{ type: 'object', additionalProperties: text }, '{ [name: string]: string }'],
  [{ type: 'object', properties: {}, additionalProperties: false }, '{}'],
  [{ type: 'object', properties: { a: text, 'b-c': {} }, required: ['a'] }, "{ a: string; 'b-c'?: unknown; }"],
  [
    { type: 'object', properties: { a: text }, additionalProperties: text },
    '({ a?: string; } & { [name: string]: string })',
  ],
];

test('each kind of schema becomes its type', () => {
  assert.deepEqual(
    cases.map(([schema]) => typeOf(schema)),
    cases.map(([, type]) => type),
  );
});

test('an operation becomes its request and the JSON of its successes', () => {
  const json = { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } };
  const parameters = [
    { name: 'id', in: 'path', required: true, schema: text },
    { name: 'limit', in: 'query', schema: { type: 'integer' }, description: 'Ends a comment: */' },
    { name: 'if-match', in: 'header', schema: text },
  ];
  const post = {
    summary: 'Change a thing',
    parameters,
    requestBody: { required: true, content: json },
    responses: { 200: { content: json }, 202: { content: { 'text/csv': {} } }, 404: { content: json } },
  };
  const upload = { requestBody: { required: true, content: { 'multipart/form-data': {} } } };
  const document = { paths: { '/v1/things/{id}': { post }, '/v1/files': { post: upload } } } as unknown as ApiDocument;
  const generated = describeApiTypes(document, { source: 'a.json', name: 'Api' });
  assert.equal(
    generated.slice(generated.indexOf('export interface')),
    `export interface Api {
  /** Change a thing */
  'POST /v1/things/{id}': {
    request: {
      path: {
        id: string;
      };
      query?: {
        /** Ends a comment: * / */
        limit?: number | undefined;
      };
      headers?: {
        'if-match'?: string | undefined;
      };
      body: Thing;
    };
    responses: {
      200: Thing;
    };
  };
  'POST /v1/files': {
    request: {
      body: FormData;
    };
    responses: {};
  };
}
`,
  );
});
