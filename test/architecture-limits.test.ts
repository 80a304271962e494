import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { limits } from '../packages/server/src/limits/limits.ts';
import { findLimitTests } from '../scripts/reference/limit-tests.ts';
import { findUnbounded, type RequestDocument } from '../scripts/reference/unbounded-schemas.ts';

const names = Object.values(limits).flatMap((group) => Object.keys(group));

test('no two limits have the same name, and each name consists of several words', () => {
  assert.deepEqual(names, [...new Set(names)]);
  assert.deepEqual(
    names.filter((name) => !/^[a-z]+(?:_[a-z]+)+$/.test(name)),
    [],
  );
});

test('every limit has a test whose title says "the limit <name>"', () => {
  const tests = findLimitTests();
  assert.deepEqual(
    names.filter((name) => !tests.has(name)),
    [],
  );
});

test('every test of a limit names a limit that exists', () => {
  const unknown = [...findLimitTests()].filter(([name]) => !names.includes(name));
  assert.deepEqual(unknown, []);
});

for (const address of ['files', 'plugins']) {
  test(`every string, array, object and integer in the requests of the ${address} address has a bound`, () => {
    const document: RequestDocument = JSON.parse(readFileSync(`docs/reference/openapi-${address}.json`, 'utf8'));
    assert.ok(Object.keys(document.paths).length > 10);
    assert.deepEqual(findUnbounded(document, new Set(names)), []);
  });
}

const bounded = { type: 'object', 'x-limits': ['json_depth'] } as const;
const [text, array, union] = [
  { type: 'string' },
  { type: 'array', items: { type: 'string' } },
  { anyOf: [{ type: 'string' }] },
];
/** Schemas of a body, and the result of the check for each. */
const unbounded: ReadonlyArray<readonly [schema: Record<string, unknown>, found: string[]]> = [
  [{ ...bounded, properties: { a: text } }, ['body/a: maxLength']],
  [{ ...bounded, properties: { a: { ...text, format: 'binary' } } }, ['body/a: maxLength']],
  [{ ...bounded, properties: { a: array } }, ['body/a: maxItems', 'body/a[]: maxLength']],
  [{ ...bounded, properties: { a: union } }, ['body/a(0): maxLength']],
  [{ ...bounded, properties: { a: { type: ['string', 'null'] } } }, ['body/a: maxLength']],
  [{ ...bounded, properties: { a: { type: 'object' } } }, ['body/a: maxProperties']],
  [
    { ...bounded, properties: { a: { type: 'object', maxProperties: 1, additionalProperties: text } } },
    ['body/a/*: maxLength'],
  ],
  [{ ...bounded, properties: { a: { type: 'integer', minimum: 0 } } }, ['body/a: minimum and maximum']],
  [{ ...bounded, properties: { a: { $ref: '#/components/schemas/Text' } } }, ['body/a: maxLength']],
  [
    { ...bounded, properties: { a: { $ref: '#/components/schemas/Missing' } } },
    ['body/a: no schema #/components/schemas/Missing'],
  ],
  [{ ...bounded, properties: { a: { enum: ['b'] } }, 'x-limits': ['no_such_limit'] }, ['body: no limit no_such_limit']],
  [
    { type: 'object', properties: { a: {} } },
    ['body/a: any value without x-limits', 'body: other members without x-limits'],
  ],
];

test('the check finds each kind of value without a bound', () => {
  const find = (operation: object) => {
    const document = { paths: { '/v1/a': { post: operation } }, components: { schemas: { Text: text } } };
    return findUnbounded(document as RequestDocument, new Set(names)).map((line) => line.replace(/^post \/v1\/a /, ''));
  };
  for (const [schema, found] of unbounded) {
    assert.deepEqual(find({ requestBody: { content: { 'application/json': { schema } } } }), found);
  }
  const parameters = ['path', 'query', 'header'].map((where) => ({ name: 'a', in: where, schema: text }));
  assert.deepEqual(find({ parameters }), ['path/a: maxLength', 'query/a: maxLength', 'header/a: maxLength']);
});
