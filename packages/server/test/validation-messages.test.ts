import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileValidator, validationProblem } from '../src/platform/http/validation.ts';
import { sentenceOf } from '../src/platform/validation/validation-error.ts';
import { createSchemaCompiler } from '../src/tools/catalogue/schema/compile-schema.ts';

const long = `${'x'.repeat(59)}\u{1F600}${'y'.repeat(40)}`;

/** A schema, a value and the message about it, as a field of a request and as an output of a plugin. */
const ofBoth = {
  type: `{"type":"string"} ⇒ 5 ⇒ body/a must be a string; received a number (5).`,
  'type, a boolean': `{"type":"object"} ⇒ true ⇒ body/a must be an object; received a boolean (true).`,
  'type, null': `{"type":"array","items":{}} ⇒ null ⇒ body/a must be an array; received null.`,
  'type, an object': `{"type":"boolean"} ⇒ {"b":1} ⇒ body/a must be a boolean; received an object.`,
  'type, an array': `{"type":"integer"} ⇒ [1] ⇒ body/a must be an integer; received an array of 1 item.`,
  'type, several': `{"type":["string","null"]} ⇒ 5 ⇒ body/a must be a string or null; received a number (5).`,
  'type, a long value': `{"type":"number"} ⇒ "${long}" ⇒ body/a must be a number; received a string ("${long.slice(0, 59)}…").`,
  required: `{"type":"object","required":["b"]} ⇒ {} ⇒ body/a/b is required.`,
  additionalProperties: `{"type":"object","properties":{"b":{}},"additionalProperties":false} ⇒ {"foo":1} ⇒ Unknown parameter "foo". Allowed: b.`,
  'additionalProperties, none': `{"type":"object","additionalProperties":false} ⇒ {"x/y":1} ⇒ Unknown parameter "x/y". Allowed: none.`,
  propertyNames: `{"type":"object","propertyNames":{"maxLength":2}} ⇒ {"foo":1} ⇒ body/a must be an object whose names are each a string of at most 2 characters; received the name "foo".`,
  enum: `{"enum":["a",1,null]} ⇒ "b" ⇒ body/a must be one of "a", 1, null; received "b".`,
  const: `{"const":"a"} ⇒ 1 ⇒ body/a must be "a"; received 1.`,
  minimum: `{"minimum":1} ⇒ 0 ⇒ body/a must be at least 1; received 0.`,
  maximum: `{"maximum":1} ⇒ 2 ⇒ body/a must be at most 1; received 2.`,
  exclusiveMinimum: `{"exclusiveMinimum":1} ⇒ 1 ⇒ body/a must be greater than 1; received 1.`,
  exclusiveMaximum: `{"exclusiveMaximum":1} ⇒ 1 ⇒ body/a must be less than 1; received 1.`,
  multipleOf: `{"multipleOf":5} ⇒ 7 ⇒ body/a must be a multiple of 5; received 7.`,
  minLength: `{"minLength":1} ⇒ "" ⇒ body/a must be a string of at least 1 character; received "".`,
  maxLength: `{"maxLength":2} ⇒ "abc" ⇒ body/a must be a string of at most 2 characters; received "abc".`,
  pattern: `{"pattern":"^[A-Z]{3}$"} ⇒ "eur" ⇒ body/a must be a string that matches ^[A-Z]{3}$; received "eur".`,
  minItems: `{"type":"array","items":{},"minItems":2} ⇒ [1] ⇒ body/a must be an array of at least 2 items; received an array of 1 item.`,
  maxItems: `{"type":"array","items":{},"maxItems":1} ⇒ [1,2] ⇒ body/a must be an array of at most 1 item; received an array of 2 items.`,
  uniqueItems: `{"type":"array","items":{},"uniqueItems":true} ⇒ [1,1] ⇒ body/a must be an array without duplicates; received an array of 2 items.`,
  contains: `{"type":"array","items":{},"contains":{"type":"string"}} ⇒ [1,2] ⇒ body/a must be an array with at least 1 item of the required form; received an array of 2 items.`,
  minProperties: `{"type":"object","minProperties":1} ⇒ {} ⇒ body/a must be an object of at least 1 member; received an object of 0 members.`,
  maxProperties: `{"type":"object","maxProperties":1} ⇒ {"b":1,"c":2} ⇒ body/a must be an object of at most 1 member; received an object of 2 members.`,
  not: `{"not":{"type":"string"}} ⇒ "x" ⇒ body/a must be a value that the schema does not exclude; received "x".`,
  'false schema': `{"allOf":[false]} ⇒ 1 ⇒ body/a must be absent; received 1.`,
  if: `{"if":{"type":"string"},"then":{"minLength":2}} ⇒ "x" ⇒ body/a must be a string of at least 2 characters; received "x".`,
  'anyOf, by type': `{"anyOf":[{"type":"string"},{"type":"number"}]} ⇒ true ⇒ body/a must be a string or a number; received a boolean (true).`,
  'anyOf, the branch of the type': `{"anyOf":[{"type":"string"},{"type":"number","minimum":3}]} ⇒ 2 ⇒ body/a must be at least 3; received 2.`,
  'anyOf, constants': `{"anyOf":[{"const":"b"},{"const":"c"}]} ⇒ "d" ⇒ body/a must be one of "b", "c"; received "d".`,
  'anyOf, without a tag': `{"anyOf":[{"type":"object","required":["kind"],"properties":{"kind":{"const":"b"}}},{"type":"object","required":["kind"],"properties":{"kind":{"const":"c"}}}]} ⇒ {} ⇒ body/a/kind is required.`,
  'anyOf, with an unknown tag': `{"anyOf":[{"type":"object","required":["kind"],"properties":{"kind":{"const":"b"}}},{"type":"object","required":["kind"],"properties":{"kind":{"const":"c"}}}]} ⇒ {"kind":"d"} ⇒ body/a/kind must be one of "b", "c"; received "d".`,
  'oneOf, none': `{"oneOf":[{"not":{"type":"number"}},{"not":{"minimum":1}}]} ⇒ 2 ⇒ body/a must be a value that the schema does not exclude; received 2.`,
  'oneOf, several': `{"oneOf":[{"minimum":1},{"minimum":2}]} ⇒ 3 ⇒ body/a must be exactly one of the allowed forms; received 3.`,
  'x-secret': `{"type":"string","x-secret":true} ⇒ 5 ⇒ body/a must be a string; received a number.`,
  'x-secret above': `{"x-secret":true,"type":"object","properties":{"b":{"enum":["eu"]}}} ⇒ {"b":"us"} ⇒ body/a/b must be one of "eu"; received a string.`,
  'x-secret, a name': `{"x-secret":true,"type":"object","properties":{"b":{}},"additionalProperties":false} ⇒ {"c":1} ⇒ body/a has an unknown parameter. Allowed: b.`,
};
/** Keywords that occur only in schemas of plugins. */
const ofPlugins = {
  dependentRequired: `{"dependentRequired":{"b":["c"]}} ⇒ {"b":1} ⇒ body/a/c is required. Send a value, because "b" is given.`,
  unevaluatedProperties: `{"properties":{"b":{}},"unevaluatedProperties":false} ⇒ {"c":1} ⇒ Unknown parameter "c". Allowed: b.`,
  unevaluatedItems: `{"prefixItems":[{}],"unevaluatedItems":false} ⇒ [1,2] ⇒ body/a must be an array without further items; received an array of 2 items.`,
  format: `{"format":"date"} ⇒ "2024-02-30" ⇒ body/a must be a string in the format date; received "2024-02-30".`,
};

for (const [keyword, row] of Object.entries({ ...ofBoth, ...ofPlugins })) {
  test(`one error has the same message in a request and in an output of a plugin: ${keyword}`, () => {
    const [schema = '', json = '', sentence] = row.split(' ⇒ ');
    const [whole, value] = [{ type: 'object', properties: { a: JSON.parse(schema) } }, JSON.parse(json)];
    const violations = createSchemaCompiler().compileOutput(() => whole)({ a: value });
    const sentences = violations.map((error) => sentenceOf({ ...error, path: `body${error.path}` }));
    assert.deepEqual(sentences, [sentence]);
    if (keyword in ofPlugins) return;
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
