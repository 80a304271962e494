import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileValidator, validationProblem } from '../src/platform/http/validation.ts';
import { sentenceOf } from '../src/platform/validation/validation-error.ts';
import { createSchemaCompiler } from '../src/tools/catalogue/schema/compile-schema.ts';

/** The same value and schema, as a field of a request and as an output of a plugin. */
interface Case {
  readonly keyword: string;
  readonly schema: object;
  readonly value: unknown;
  readonly sentence: string;
  /** Whether the keyword occurs only in schemas of plugins, not in those of requests. */
  readonly pluginsOnly?: true;
}

const tag = (name: string) => ({ type: 'object', required: ['kind'], properties: { kind: { const: name } } });
const long = `${'x'.repeat(59)}\u{1F600}${'y'.repeat(40)}`;

const cases: readonly Case[] = [
  {
    keyword: 'type',
    schema: { type: 'string' },
    value: 5,
    sentence: 'body/a must be a string; received a number (5).',
  },
  {
    keyword: 'type, a boolean',
    schema: { type: 'object' },
    value: true,
    sentence: 'body/a must be an object; received a boolean (true).',
  },
  {
    keyword: 'type, null',
    schema: { type: 'array', items: {} },
    value: null,
    sentence: 'body/a must be an array; received null.',
  },
  {
    keyword: 'type, an object',
    schema: { type: 'boolean' },
    value: { b: 1 },
    sentence: 'body/a must be a boolean; received an object.',
  },
  {
    keyword: 'type, an array',
    schema: { type: 'integer' },
    value: [1],
    sentence: 'body/a must be an integer; received an array of 1 item.',
  },
  {
    keyword: 'type, several',
    schema: { type: ['string', 'null'] },
    value: 5,
    sentence: 'body/a must be a string or null; received a number (5).',
  },
  {
    keyword: 'type, a long value',
    schema: { type: 'number' },
    value: long,
    sentence: `body/a must be a number; received a string ("${'x'.repeat(59)}…").`,
  },
  { keyword: 'required', schema: { type: 'object', required: ['b'] }, value: {}, sentence: 'body/a/b is required.' },
  {
    keyword: 'additionalProperties',
    schema: { type: 'object', properties: { b: {} }, additionalProperties: false },
    value: { foo: 1 },
    sentence: 'Unknown parameter "foo". Allowed: b.',
  },
  {
    keyword: 'additionalProperties, none',
    schema: { type: 'object', additionalProperties: false },
    value: { 'x/y': 1 },
    sentence: 'Unknown parameter "x/y". Allowed: none.',
  },
  {
    keyword: 'propertyNames',
    schema: { type: 'object', propertyNames: { maxLength: 2 } },
    value: { foo: 1 },
    sentence:
      'body/a must be an object whose names are each a string of at most 2 characters; received the name "foo".',
  },
  {
    keyword: 'enum',
    schema: { enum: ['a', 1, null] },
    value: 'b',
    sentence: 'body/a must be one of "a", 1, null; received "b".',
  },
  { keyword: 'const', schema: { const: 'a' }, value: 1, sentence: 'body/a must be "a"; received 1.' },
  { keyword: 'minimum', schema: { minimum: 1 }, value: 0, sentence: 'body/a must be at least 1; received 0.' },
  { keyword: 'maximum', schema: { maximum: 1 }, value: 2, sentence: 'body/a must be at most 1; received 2.' },
  {
    keyword: 'exclusiveMinimum',
    schema: { exclusiveMinimum: 1 },
    value: 1,
    sentence: 'body/a must be greater than 1; received 1.',
  },
  {
    keyword: 'exclusiveMaximum',
    schema: { exclusiveMaximum: 1 },
    value: 1,
    sentence: 'body/a must be less than 1; received 1.',
  },
  {
    keyword: 'multipleOf',
    schema: { multipleOf: 5 },
    value: 7,
    sentence: 'body/a must be a multiple of 5; received 7.',
  },
  {
    keyword: 'minLength',
    schema: { minLength: 1 },
    value: '',
    sentence: 'body/a must be a string of at least 1 character; received "".',
  },
  {
    keyword: 'maxLength',
    schema: { maxLength: 2 },
    value: 'abc',
    sentence: 'body/a must be a string of at most 2 characters; received "abc".',
  },
  {
    keyword: 'pattern',
    schema: { pattern: '^[A-Z]{3}$' },
    value: 'eur',
    sentence: 'body/a must be a string that matches ^[A-Z]{3}$; received "eur".',
  },
  {
    keyword: 'minItems',
    schema: { type: 'array', items: {}, minItems: 2 },
    value: [1],
    sentence: 'body/a must be an array of at least 2 items; received an array of 1 item.',
  },
  {
    keyword: 'maxItems',
    schema: { type: 'array', items: {}, maxItems: 1 },
    value: [1, 2],
    sentence: 'body/a must be an array of at most 1 item; received an array of 2 items.',
  },
  {
    keyword: 'uniqueItems',
    schema: { type: 'array', items: {}, uniqueItems: true },
    value: [1, 1],
    sentence: 'body/a must be an array without duplicates; received an array of 2 items.',
  },
  {
    keyword: 'contains',
    schema: { type: 'array', items: {}, contains: { type: 'string' } },
    value: [1, 2],
    sentence: 'body/a must be an array with at least 1 item of the required form; received an array of 2 items.',
  },
  {
    keyword: 'minProperties',
    schema: { type: 'object', minProperties: 1 },
    value: {},
    sentence: 'body/a must be an object of at least 1 member; received an object of 0 members.',
  },
  {
    keyword: 'maxProperties',
    schema: { type: 'object', maxProperties: 1 },
    value: { b: 1, c: 2 },
    sentence: 'body/a must be an object of at most 1 member; received an object of 2 members.',
  },
  {
    keyword: 'not',
    schema: { not: { type: 'string' } },
    value: 'x',
    sentence: 'body/a must be a value that the schema does not exclude; received "x".',
  },
  { keyword: 'false schema', schema: { allOf: [false] }, value: 1, sentence: 'body/a must be absent; received 1.' },
  {
    keyword: 'if',
    schema: JSON.parse('{"if":{"type":"string"},"then":{"minLength":2}}'),
    value: 'x',
    sentence: 'body/a must be a string of at least 2 characters; received "x".',
  },
  {
    keyword: 'anyOf, by type',
    schema: { anyOf: [{ type: 'string' }, { type: 'number' }] },
    value: true,
    sentence: 'body/a must be a string or a number; received a boolean (true).',
  },
  {
    keyword: 'anyOf, the branch of the type',
    schema: { anyOf: [{ type: 'string' }, { type: 'number', minimum: 3 }] },
    value: 2,
    sentence: 'body/a must be at least 3; received 2.',
  },
  {
    keyword: 'anyOf, constants',
    schema: { anyOf: [{ const: 'b' }, { const: 'c' }] },
    value: 'd',
    sentence: 'body/a must be one of "b", "c"; received "d".',
  },
  {
    keyword: 'anyOf, without a tag',
    schema: { anyOf: [tag('b'), tag('c')] },
    value: {},
    sentence: 'body/a/kind is required.',
  },
  {
    keyword: 'anyOf, with an unknown tag',
    schema: { anyOf: [tag('b'), tag('c')] },
    value: { kind: 'd' },
    sentence: 'body/a/kind must be one of "b", "c"; received "d".',
  },
  {
    keyword: 'oneOf, none',
    schema: { oneOf: [{ not: { type: 'number' } }, { not: { minimum: 1 } }] },
    value: 2,
    sentence: 'body/a must be a value that the schema does not exclude; received 2.',
  },
  {
    keyword: 'oneOf, several',
    schema: { oneOf: [{ minimum: 1 }, { minimum: 2 }] },
    value: 3,
    sentence: 'body/a must be exactly one of the allowed forms; received 3.',
  },
  {
    keyword: 'x-secret',
    schema: { type: 'string', 'x-secret': true },
    value: 5,
    sentence: 'body/a must be a string; received a number.',
  },
  {
    keyword: 'x-secret above',
    schema: { 'x-secret': true, type: 'object', properties: { b: { enum: ['eu'] } } },
    value: { b: 'us' },
    sentence: 'body/a/b must be one of "eu"; received a string.',
  },
  {
    keyword: 'x-secret, a name',
    schema: { 'x-secret': true, type: 'object', properties: { b: {} }, additionalProperties: false },
    value: { c: 1 },
    sentence: 'body/a has an unknown parameter. Allowed: b.',
  },
  {
    keyword: 'dependentRequired',
    schema: { dependentRequired: { b: ['c'] } },
    value: { b: 1 },
    sentence: 'body/a/c is required. Send a value, because "b" is given.',
    pluginsOnly: true,
  },
  {
    keyword: 'unevaluatedProperties',
    schema: { properties: { b: {} }, unevaluatedProperties: false },
    value: { c: 1 },
    sentence: 'Unknown parameter "c". Allowed: b.',
    pluginsOnly: true,
  },
  {
    keyword: 'unevaluatedItems',
    schema: { prefixItems: [{}], unevaluatedItems: false },
    value: [1, 2],
    sentence: 'body/a must be an array without further items; received an array of 2 items.',
    pluginsOnly: true,
  },
  {
    keyword: 'format',
    schema: { format: 'date' },
    value: '2024-02-30',
    sentence: 'body/a must be a string in the format date; received "2024-02-30".',
    pluginsOnly: true,
  },
];

for (const { keyword, schema, value, sentence, pluginsOnly } of cases) {
  test(`one error has the same message in a request and in an output of a plugin: ${keyword}`, () => {
    const whole = { type: 'object', properties: { a: schema } };
    const violations = createSchemaCompiler().compileOutput(() => whole)({ a: value });
    const sentences = violations.map((error) => sentenceOf({ ...error, path: `body${error.path}` }));
    assert.deepEqual(sentences, [sentence]);
    if (pluginsOnly) return;
    const validate = compileValidator({ schema: whole, method: 'POST', url: '/', httpPart: 'body' });
    assert.equal(validate({ a: value }), false);
    assert.equal(validationProblem(validate.errors ?? []).message, sentence);
  });
}

test('no message shows a value below credentials or of a header', () => {
  const schema = {
    type: 'object',
    properties: { credentials: { type: 'object', additionalProperties: { type: 'string' } } },
  };
  const validate = compileValidator({ schema, method: 'POST', url: '/', httpPart: 'body' });
  assert.equal(validate({ credentials: { KEY: 824_155_019 } }), false);
  assert.equal(
    validationProblem(validate.errors ?? []).message,
    'body/credentials/KEY must be a string; received a number.',
  );
  const headers = compileValidator({
    schema: { type: 'object', properties: { a: { enum: ['b'] } } },
    method: 'GET',
    url: '/',
    httpPart: 'headers',
  });
  assert.equal(headers({ a: 'secret' }), false);
  assert.equal(
    validationProblem(headers.errors ?? [], 'headers').message,
    'headers/a must be one of "b"; received a string.',
  );
});
