import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sentenceOf } from '../../../platform/validation/validation-error.ts';
import { createSchemaCompiler, type JsonSchema } from './compile-schema.ts';

const compiler = createSchemaCompiler();

function object(properties: Record<string, unknown>, more: Record<string, unknown> = {}): JsonSchema {
  return { type: 'object', properties, ...more };
}

/** Returns the message of each validation error. */
function errorsOf(schema: JsonSchema, value: Record<string, unknown>): string[] {
  return compiler
    .compileInput(() => schema)(value)
    .violations.map(sentenceOf);
}

test('all errors are listed, each with its path', () => {
  const schema = object(
    { lat: { type: 'number' }, stops: { type: 'array', items: object({ 'a/b': { type: 'string' } }) } },
    { required: ['lat', 'lon'], additionalProperties: false },
  );
  assert.deepEqual(errorsOf(schema, { lat: '1', stops: [{}, { 'a/b': 2 }], extra: 1 }), [
    '/lon is required.',
    'Unknown parameter "extra". Allowed: lat, stops.',
    '/lat must be a number; received a string ("1").',
    '/stops/1/a~1b must be a string; received a number (2).',
  ]);
});

test('values are not coerced: neither a text nor a boolean is a number, and 5.0 is an integer', () => {
  const schema = object({ a: { type: 'integer' } });
  assert.equal(errorsOf(schema, { a: '5' }).length, 1);
  assert.equal(errorsOf(schema, { a: true }).length, 1);
  assert.equal(errorsOf(object({ a: { type: 'integer' } }, { required: ['a'] }), { a: null }).length, 1);
  assert.deepEqual(errorsOf(schema, { a: JSON.parse('5.0') }), []);
});

test('a null that the schema does not allow means absent, at every depth; other nulls stay', () => {
  const schema = object({
    units: { type: 'string', default: 'metric' },
    limit: { type: 'integer', enum: [1, 2] },
    page: object({ size: { type: 'integer' }, at: { type: ['string', 'null'] } }),
    list: { type: 'array', items: { type: 'integer' } },
  });
  const read = createSchemaCompiler().compileInput(() => schema);
  const nulls = { units: null, limit: null, page: { size: null, at: null }, list: null, other: null };
  assert.deepEqual(read(nulls), { input: { units: 'metric', page: { at: null }, other: null }, violations: [] });
  assert.deepEqual(errorsOf(schema, { list: [null] }), ['/list/0 must be an integer; received null.']);
  assert.deepEqual(errorsOf(schema, { limit: null, list: 1 }).length, 3);
});

test('defaults are added to a copy, and the original value does not change', () => {
  const schema = object({
    units: { type: 'string', default: 'metric' },
    page: object({ size: { type: 'integer', default: 20 } }, { default: {} }),
  });
  const readInput = compiler.compileInput(() => schema);
  const sent = { page: {} };
  const { input, violations } = readInput(sent);
  assert.deepEqual(violations, []);
  assert.deepEqual(input, { units: 'metric', page: { size: 20 } });
  assert.deepEqual(sent, { page: {} });
  // A plugin may change its input; the next call gets fresh defaults.
  Reflect.set(Object(input.page), 'size', 1);
  assert.deepEqual(readInput({}).input, { units: 'metric', page: { size: 20 } });
});

test('an output is checked unchanged, without defaults', () => {
  const check = compiler.compileOutput(() => object({ a: { type: 'number', default: 1 } }, { required: ['a'] }));
  const output = {};
  assert.deepEqual(check(output), [{ path: '/a', found: 'nothing', expected: 'a value' }]);
  assert.deepEqual(output, {});
  assert.deepEqual(check('text'), [{ path: '', found: 'a string ("text")', expected: 'an object' }]);
});

test('messages about credentials contain no value and no undeclared name', () => {
  const properties = {
    KEY: { type: 'string', pattern: '^sk-', maxLength: 8 },
    REGION: { type: 'string', enum: ['eu', 'us'] },
  };
  const check = compiler.compileCredentials(() => object(properties, { additionalProperties: false }));
  const secret = 'topsecretvalue';
  const text = JSON.stringify(check({ KEY: secret, REGION: secret, [secret]: secret }));
  assert.equal(text.includes(secret), false, text);
  assert.deepEqual(check({ KEY: 5 }), [{ path: '/KEY', found: 'a number', expected: 'a string' }]);
  assert.deepEqual(check({ other: 'x' }), [
    { path: '', found: 'a parameter with an unknown name', expected: 'KEY, REGION' },
  ]);
});

test('a pattern that blocks a backtracking engine for hours is checked quickly', () => {
  const text = `${'a'.repeat(50_000)}!`;
  for (const pattern of ['^(a+)+$', '^(a|a)*$', '^(.*a){20}$']) {
    assert.equal(errorsOf(object({ a: { type: 'string', pattern } }), { a: text }).length, 1);
  }
  const byName = { type: 'object', patternProperties: { '^(a+)+$': { type: 'number' } } };
  assert.deepEqual(errorsOf(byName, { [text]: 'x' }), []);
});

test('two patterns of one schema are compiled separately', () => {
  const schema = object({ a: { pattern: '^a$' }, b: { pattern: '^b$' } });
  assert.deepEqual(errorsOf(schema, { a: 'a', b: 'b' }), []);
  assert.equal(errorsOf(schema, { a: 'b', b: 'a' }).length, 2);
  assert.equal(errorsOf(schema, { a: 'a\n' }).length, 1);
});

test('formats accept valid and refuse invalid texts, and long texts do not slow them', () => {
  const formats: Readonly<Record<string, readonly [string, string]>> = {
    'date-time': ['2024-02-29T12:00:00Z', '2024-02-30T12:00:00Z'],
    email: ['a.b@example.com', 'a.b@'],
    uri: ['https://example.com/a?b#c', 'example.com/a'],
    url: ['https://example.com/a', 'javascript:alert(1)'],
    'uri-reference': ['/a?b', '\\\\a b'],
    hostname: ['a-b.example.com', '-a.example.com'],
    ipv4: ['127.0.0.1', '256.0.0.1'],
    ipv6: ['2001:db8::1', '2001:db8:::1'],
    uuid: ['6ba7b810-9dad-11d1-80b4-00c04fd430c8', '6ba7b810'],
    duration: ['P1DT2H', 'P'],
    byte: ['aGk=', 'aGk'],
    'json-pointer': ['/a/0', 'a/0'],
  };
  for (const [format, [right, wrong]] of Object.entries(formats)) {
    const schema = object({ a: { type: 'string', format } });
    assert.deepEqual(errorsOf(schema, { a: right }), [], format);
    assert.equal(errorsOf(schema, { a: wrong }).length, 1, format);
    for (const part of ['a', 'a.', 'a-', ':', '0', '%', '/a', 'é']) {
      compiler.compileInput(() => schema)({ a: `${part.repeat(30_000)}\n` });
    }
  }
});

test('a hundred thousand objects that must differ are compared in one pass', () => {
  const items = Array.from({ length: 60_000 }, (_, index) => ({ index }));
  const schema = object({ a: { type: 'array', items: {}, uniqueItems: true } });
  assert.deepEqual(errorsOf(schema, { a: items }), []);
  assert.equal(errorsOf(schema, { a: [...items, { index: 5 }] }).length, 1);
});

test('__proto__ never passes, whatever the schema allows', () => {
  const readInput = compiler.compileInput(() => ({ type: 'object' }));
  for (const text of ['{"__proto__":{"admin":true}}', '{"a":[{"__proto__":1}]}']) {
    const { input, violations } = readInput(JSON.parse(text));
    assert.equal(violations.length, 1);
    assert.match(String(violations[0]?.path), /__proto__$/);
    assert.deepEqual(input, {});
  }
  assert.equal(Reflect.get({}, 'admin'), undefined);
});

test('a name that every object inherits is not a member of the data', () => {
  const schema = object({ toString: { type: 'string' } }, { required: ['toString', 'constructor'] });
  assert.deepEqual(errorsOf(schema, {}), ['/toString is required.', '/constructor is required.']);
});

test('data that is nested too deeply or too large is refused before it is checked', () => {
  const schema = { type: 'object', properties: { a: { $ref: '#' } } };
  const deep = JSON.parse(`${'{"a":'.repeat(5_000)}{}${'}'.repeat(5_000)}`);
  assert.deepEqual(errorsOf(schema, deep), ['/a/a/a must be nested at most 64 levels deep; received deeper nesting.']);
  const wide = { a: Array.from({ length: 200_001 }, () => 1) };
  assert.deepEqual(errorsOf({ type: 'object' }, wide), [
    ' must be a value of at most 200000 nested values; received more.',
  ]);
  const check = compiler.compileOutput(() => schema);
  assert.ok(check(JSON.parse(`${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`)).length > 0);
});

test('a large value with many errors is reported with one error', () => {
  const schema = object({ a: { type: 'array', items: { type: 'number' } } });
  const many = Array.from({ length: 50_000 }, () => 'x');
  assert.deepEqual(errorsOf(schema, { a: many }), ['/a/0 must be a number; received a string ("x").']);
  assert.equal(errorsOf(schema, { a: many.slice(0, 100) }).length, 20);
});

test('references resolve only within their schema, to its root and its definitions', () => {
  const tree = object({ value: { type: 'number' }, next: { $ref: '#' } }, { required: ['value'] });
  const named = object({ a: { $ref: '#/$defs/short' } }, { $defs: { short: { type: 'string', maxLength: 2 } } });
  const other = object({ a: { $ref: '#/$defs/short' } }, { $defs: { short: { type: 'number' } } });
  const readers = [tree, named, other].map((schema) => compiler.compileInput(() => schema));
  const paths = (index: number, value: Record<string, unknown>) =>
    readers[index]?.(value).violations.map(({ path }) => path);
  assert.deepEqual(paths(0, { value: 1, next: { value: 2, next: {} } }), ['/next/next/value']);
  assert.deepEqual(paths(1, { a: 'abc' }), ['/a']);
  assert.deepEqual(paths(2, { a: 'ab' }), ['/a']);
  assert.deepEqual(paths(1, { a: 'ab' }), []);
});

test('members named like methods of objects are treated as data', () => {
  const schema = object({ a: { enum: [{ valueOf: 1, b: 2 }] }, c: { const: { toString: 1 } } });
  assert.deepEqual(errorsOf(schema, { a: { b: 2, valueOf: 1 }, c: { toString: 1 } }), []);
  assert.equal(errorsOf(schema, { a: { valueOf: 2 }, c: { valueOf: 1 } }).length, 2);
});

test('examples and extensions may contain any value', () => {
  const remarks = { examples: [{ $id: 'https://example.com/' }], 'x-more': { $anchor: '', id: 1, $ref: '#/nope' } };
  const schema = object({ a: { type: 'string', ...remarks }, $id: { type: 'number' } }, remarks);
  assert.deepEqual(errorsOf(schema, { a: 'x', $id: 1 }), []);
  assert.deepEqual(errorsOf(schema, { $id: 'x' }), ['/$id must be a number; received a string ("x").']);
});

test('keywords compare integers beyond 2^53 exactly, in inputs and in outputs', () => {
  const n = 1234567890123456789n;
  const limit = 2 ** 60;
  const above = BigInt(limit) + 1n;
  const unique = { type: 'array', uniqueItems: true };
  const cases: ReadonlyArray<readonly [schema: Record<string, unknown>, value: unknown, isValid: boolean]> = [
    [unique, [n, n + 1n], true],
    [unique, [n, n], false],
    [unique, [{ a: [n] }, { a: [n + 1n] }], true],
    [
      unique,
      [
        { a: n, b: 1 },
        { b: 1, a: n },
      ],
      false,
    ],
    [unique, [n, 1, 1], false],
    [{ type: 'integer', maximum: limit }, above, false],
    [{ type: 'integer', maximum: limit }, above - 1n, true],
    [{ type: 'integer', minimum: limit }, above - 2n, false],
    [{ type: 'integer', minimum: limit }, above - 1n, true],
    [{ exclusiveMaximum: limit }, above - 2n, true],
    [{ exclusiveMaximum: limit }, above - 1n, false],
    [{ exclusiveMinimum: limit }, above, true],
    [{ exclusiveMinimum: limit }, above - 1n, false],
    [{ multipleOf: 10 }, n + 1n, true],
    [{ multipleOf: 10 }, n, false],
    [{ multipleOf: 0.5 }, n, true],
    [{ items: { $ref: '#/$defs/small' } }, [5, above], false],
    [{ items: { $ref: '#/$defs/small' } }, [5, above - 1n], true],
    [{ anyOf: [{ type: 'string' }, { maximum: limit }] }, above, false],
    [{ additionalProperties: { maximum: limit } }, { x: above }, false],
    [{ not: { minimum: limit } }, above - 2n, true],
    [{ type: 'integer', maximum: 5, minimum: 1 }, 5, true],
    [{ properties: { b: { default: 7 } }, maxProperties: 2 }, { a: n }, true],
  ];
  for (const [schema, value, isValid] of cases) {
    const whole = object({ a: schema }, { $defs: { small: { maximum: limit } } });
    const input = compiler.compileInput(() => whole)({ a: value });
    const shown = JSON.stringify([schema, value]);
    assert.equal(input.violations.length === 0, isValid, shown);
    assert.equal(compiler.compileOutput(() => whole)({ a: value }).length === 0, isValid, shown);
  }
  const bare = compiler.compileOutput(() => ({ type: 'integer', maximum: limit }));
  assert.deepEqual([bare(above).length, bare(above - 1n).length, bare(5).length], [1, 0, 0]);
  assert.equal(bare({}).length, 1);
});

test('the error of an integer beyond 2^53 names the limit', () => {
  const schema = object({ a: { maximum: 5, multipleOf: 2 } });
  const [most, multiple] = errorsOf(schema, { a: 1234567890123456789n });
  assert.match(most ?? '', /^\/a must be at most 5;/);
  assert.match(multiple ?? '', /^\/a must be a multiple of 2;/);
});
