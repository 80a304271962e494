import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sentenceOf } from '../../../platform/validation/validation-error.ts';
import { compileBoundedRegExp } from './bounded-patterns.ts';
import { checkLimits } from './check-budget.ts';
import { createSchemaCompiler, type JsonSchema } from './compile-schema.ts';
import { compileLinearRegExp } from './linear-regexp.ts';

const { patternText, patternTexts, comparedItems } = checkLimits;
const base64 = '^[A-Za-z0-9+/]+={0,2}$';
const compiler = createSchemaCompiler();

function objectOf(a: unknown, more: object = {}): JsonSchema {
  return { type: 'object', properties: { a }, ...more };
}

/** Returns the message of each validation error of an input. */
function errorsOf(schema: JsonSchema, value: Record<string, unknown>): string[] {
  return compiler
    .compileInput(() => schema)(value)
    .violations.map(sentenceOf);
}

test('the limit pattern_characters applies wherever a schema matches a text, and names the place', () => {
  const [allowed, longer] = ['a'.repeat(patternText), 'a'.repeat(patternText + 1)];
  const rule = `must be at most ${patternText} characters long, because a pattern or format applies to it`;
  const sentence = (place: string) => `${place} ${rule}; received ${patternText + 1} characters.`;
  const schemas: ReadonlyArray<readonly [schema: JsonSchema, value: (text: string) => object, place: string]> = [
    [objectOf({ pattern: '^a*(b|$)' }), (a) => ({ a }), '/a'],
    [objectOf({ not: { pattern: 'b' } }), (a) => ({ a }), '/a'],
    [objectOf({ items: { anyOf: [{ type: 'integer' }, { pattern: 'a$' }] } }), (a) => ({ a: [1, a] }), '/a/1'],
    [objectOf({ patternProperties: { '^a': true } }), (a) => ({ a: { [a]: 1 } }), '/a'],
    [objectOf({ propertyNames: { pattern: 'a' } }), (a) => ({ a: { [a]: 1 } }), '/a'],
  ];
  for (const [schema, value, place] of schemas) {
    assert.deepEqual(errorsOf(schema, { ...value(allowed) }), [], JSON.stringify(schema));
    assert.deepEqual(errorsOf(schema, { ...value(longer) }), [sentence(place)], JSON.stringify(schema));
  }
  for (const format of ['email', 'date-time', 'uri-reference', 'json-pointer', 'regex']) {
    assert.deepEqual(errorsOf(objectOf({ format }), { a: longer }), [sentence('/a')], format);
  }
  const checkOutput = compiler.compileOutput(() => objectOf({ pattern: 'a$' }));
  assert.deepEqual(checkOutput({ a: longer }).map(sentenceOf), [sentence('/a')]);
});

test('the limit pattern_characters_of_value applies to the sum of all texts that patterns match in one check', () => {
  const schema = objectOf({ items: { pattern: 'a$' } });
  const texts = Array.from({ length: patternTexts / patternText }, () => 'a'.repeat(patternText));
  for (let round = 0; round < 3; round += 1) assert.deepEqual(errorsOf(schema, { a: texts }), []);
  const [error = ''] = errorsOf(schema, { a: [...texts, 'a'] });
  assert.match(error, new RegExp(`at most ${patternTexts} characters of text`));
});

test('the pattern of base64 has the same result as the linear engine for texts of any length, and does not use the budget', () => {
  const read: number[] = [];
  const budget = { reset() {}, compare() {}, match: (text: string) => void read.push(text.length) };
  const picture = 'iVBORw0K'.repeat(2 ** 17);
  for (const pattern of [base64, '^[A-Za-z0-9+/]*={0,2}$', '^[A-Za-z0-9_-]+$', '^[\\w+]+=?$', '^[!-~]+=*$']) {
    const linear = compileLinearRegExp(pattern);
    const bounded = compileBoundedRegExp(pattern, budget);
    for (const text of ['', 'A', 'AA==', 'AA===', 'A=A', 'A A', 'AA\n', 'ä', '-_', '+/', '=', '!~==']) {
      assert.equal(bounded.test(text), linear.test(text), `${pattern} and ${JSON.stringify(text)}`);
    }
  }
  read.length = 0;
  assert.deepEqual(
    [picture, `${picture}==`, `${picture}!`].map((text) => compileBoundedRegExp(base64, budget).test(text)),
    [true, true, false],
  );
  assert.deepEqual(read, []);
  // A class that contains the padding could take quadratic time.
  compileBoundedRegExp('^[!-~]+=*$', budget).test('==');
  assert.deepEqual(read, [2]);
});

test('const and enum read a value only as far as the values that they allow', () => {
  let reads = 0;
  const counted = new Proxy(Array(100_000).fill(''), {
    get: (target, name, receiver) => {
      reads += 1;
      return Reflect.get(target, name, receiver);
    },
  });
  const anyOf = Array.from({ length: 200 }, (_, index) => ({ enum: [`value ${index}`, [index]] }));
  const check = compiler.compileOutput(() => ({ anyOf: [...anyOf, { const: 1 }, true] }));
  // The value is visited once; 200 comparisons of 100,000 items would read twenty million.
  assert.deepEqual(check(counted), []);
  assert.ok(reads < 500_000, `${reads} reads`);
});

test('the limit compared_characters applies to arrays without duplicates that contain each other', () => {
  const schema = objectOf(
    { $ref: '#/$defs/unique' },
    { $defs: { unique: { uniqueItems: true, items: { $ref: '#/$defs/unique' } } } },
  );
  const nested = (levels: number): unknown => (levels === 0 ? 'a'.repeat(comparedItems / 8) : [nested(levels - 1)]);
  assert.deepEqual(errorsOf(schema, { a: nested(7) }), []);
  const [error = ''] = errorsOf(schema, { a: nested(8) });
  assert.match(error, new RegExp(`at most ${comparedItems} characters in arrays without duplicates`));
});

test('a reference to a file is exempt from the rules about its characters, and no other text is', () => {
  const content = { type: 'string', contentEncoding: 'base64', minLength: 50, maxLength: 60, pattern: base64 };
  const schema = objectOf({ anyOf: [content, { type: 'integer' }] }, { required: ['a'] });
  const id = 'file0mwq7qe92rz5d1vkc40m';
  for (const a of [`file:${id}`, ` ARTIFACT:${id}`, `data:image/png;base64,artifact:${id}`, 'A'.repeat(52), 3]) {
    assert.deepEqual(errorsOf(schema, { a }), [], String(a));
  }
  assert.deepEqual(errorsOf(schema, { a: 'A'.repeat(48) }), [
    '/a must be a string of at least 50 characters; received "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA".',
  ]);
  assert.match(
    String(errorsOf(schema, { a: `url:${'A'.repeat(48)}` })),
    /^\/a must be a string that matches \^\[A-Za-z/,
  );
  assert.deepEqual(errorsOf(objectOf({ type: 'string', pattern: base64 }), { a: `file:${id}` }).length, 1);
});
