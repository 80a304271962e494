import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ListQuery, MetadataFilter, PasswordChange, SetUp, SignIn } from '@quartermaster/contract';
import { Type } from 'typebox';
import { compileValidator, validationProblem } from './validation.ts';

const Value = Type.Union([Type.String({ maxLength: 3 }), Type.Integer({ minimum: 1 }), Type.Null()]);
const schema = Type.Object({ filters: Type.Optional(MetadataFilter), value: Type.Optional(Value) });
const validate = compileValidator({ schema, method: 'POST', url: '/', httpPart: 'body' });

function messageAbout(body: unknown): string {
  assert.equal(validate(body), false);
  const { message, details } = validationProblem(validate.errors as Parameters<typeof validationProblem>[0]);
  assert.equal(details?.length, 1);
  return message;
}

const is = (n: number) => ({ type: 'eq', key: 'a', value: n });
const comparisons = [
  ...['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin'],
  ...['contains', 'not_contains', 'starts_with', 'ends_with', 'empty', 'not_empty'],
]
  .map((type) => `"${type}"`)
  .join(', ');

const cases = {
  'no form at all': `{"filters":"x"} ⇒ filters must be an object; received a string ("x").`,
  'no name of a form': `{"filters":{"key":"a","value":1}} ⇒ filters/type is required.`,
  'the name of no form': `{"filters":{"type":"is","key":"a","value":1}} ⇒ filters/type must be one of ${comparisons}, "and", "or"; received "is".`,
  'a form without a member': `{"filters":{"type":"gt","key":"a"}} ⇒ filters/value is required.`,
  'a member of a wrong type': `{"filters":{"type":"gt","key":"a","value":true}} ⇒ filters/value must be a string or a number; received a boolean (true).`,
  'too few': `{"filters":{"type":"in","key":"a","value":[]}} ⇒ filters/value must be an array of at least 1 item; received an array of 0 items.`,
  'too many': `{"filters":{"type":"or","filters":${JSON.stringify(Array.from({ length: 17 }, (_, n) => is(n)))}}} ⇒ filters/filters must be an array of at most 16 items; received an array of 17 items.`,
  'a form within a form': `{"filters":{"type":"and","filters":[{"type":"eq","key":"a","value":1},{"type":"lt","key":"","value":2}]}} ⇒ filters/filters/1/key must be a string of at least 1 character; received "".`,
  'a form with the type of another form': `{"filters":{"type":"in","field":"record_id","value":[7]}} ⇒ filters/value/0 must be a string; received a number (7).`,
  'a name that the form does not allow': `{"filters":{"type":"eq","field":"chunk_id","value":"x"}} ⇒ filters/field must be one of "record_id", "file_id"; received "chunk_id".`,
  'what a form may not hold': `{"filters":{"type":"and","filters":[{"type":"or","filters":[{"type":"or","filters":[{"type":"eq","key":"a","value":1}]}]}]}} ⇒ filters/filters/0/filters/0/type must be one of ${comparisons}; received "or".`,
  'a text that is too long': `{"value":"four"} ⇒ value must be a string of at most 3 characters; received "four".`,
  'a number that is too small': `{"value":0} ⇒ value must be at least 1; received 0.`,
  'no type of a union': `{"value":[]} ⇒ value must be a string or an integer or null; received an array of 0 items.`,
};

for (const [what, row] of Object.entries(cases)) {
  test(`a union error is reported for the branch that the value selects: ${what}`, () => {
    const [body = '', message] = row.split(' ⇒ ');
    assert.equal(messageAbout(JSON.parse(body)), `body/${message}`);
  });
}

test('a condition with members of two forms is refused', () => {
  const message = messageAbout({ filters: { type: 'eq', key: 'a', field: 'record_id', value: 'x' } });
  assert.equal(message, 'Unknown parameter "field". Allowed: type, key, value.');
});

test('each wrong or missing field of a body is described once, in the order of the schema, and the message is bounded', () => {
  const field = Type.Union([Type.String({ maxLength: 2 }), Type.Null()]);
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  const schema = Type.Object(Object.fromEntries(names.map((name) => [name, field])), { additionalProperties: false });
  const check = compileValidator({ schema, method: 'POST', url: '/', httpPart: 'body' });
  assert.equal(check({ a: 'ok', b: 1, d: 'long', g: [{}], other: 1, more: 2 }), false);
  const problem = validationProblem(check.errors as Parameters<typeof validationProblem>[0]);
  assert.deepEqual(
    (problem.details as ReadonlyArray<{ path: string }>).map(({ path }) => path),
    ['body/b', 'body/c', 'body/d', 'body/e', 'body/f', 'body/g', 'body'],
  );
  assert.equal(
    problem.message,
    'body/b must be a string or null; received a number (1). body/c is required. ' +
      'body/d must be a string of at most 2 characters; received "long". body/e is required. body/f is required. ' +
      'The details list 2 more.',
  );
});

test('the number of errors depends on the schema, not on the body', () => {
  const schema = Type.Object({ items: Type.Array(Type.String()), others: Type.Array(Type.String()) });
  const check = compileValidator({ schema, method: 'POST', url: '/', httpPart: 'body' });
  const numbers = Array.from({ length: 10_000 }, (_, index) => index);
  assert.equal(check({ items: numbers, others: numbers }), false);
  assert.equal(check.errors?.length, 2);
});

const secret = 824_155_019;
const secrets: ReadonlyArray<readonly [schema: object, body: unknown, message: string]> = [
  [SetUp, { token: secret, name: 'a', password: 'b' }, 'body/token must be a string; received a number.'],
  [
    SetUp,
    { token: '', name: 'a', password: 'b' },
    'body/token must be a string of at least 1 character; received an empty string.',
  ],
  [SetUp, secret, 'body must be an object; received a number.'],
  [SignIn, { name: 'a', password: secret }, 'body/password must be a string; received a number.'],
  [
    PasswordChange,
    { current_password: [secret], new_password: 'b' },
    'body/current_password must be a string; received an array.',
  ],
  [
    PasswordChange,
    { current_password: 'a', new_password: secret },
    'body/new_password must be a string; received a number.',
  ],
];

for (const [secretSchema, body, message] of secrets) {
  test(`an error never repeats a secret: ${message}`, () => {
    const check = compileValidator({ schema: secretSchema, method: 'POST', url: '/', httpPart: 'body' });
    assert.equal(check(body), false);
    const problem = validationProblem(check.errors as Parameters<typeof validationProblem>[0]);
    assert.equal(problem.message, message);
    assert.doesNotMatch(JSON.stringify([problem.message, problem.details]), new RegExp(String(secret)));
  });
}

for (const text of ['0x10', '1e1', ' 5', '5 ', '+5', '5.0', '0b1', '']) {
  test(`a number in a query must have decimal digits only, not ${JSON.stringify(text)}`, () => {
    const check = compileValidator({ schema: ListQuery, method: 'GET', url: '/', httpPart: 'querystring' });
    assert.equal(check({ limit: text }), false);
    const { message } = validationProblem(check.errors as Parameters<typeof validationProblem>[0], 'querystring');
    assert.equal(message, `querystring/limit must be an integer; received a string (${JSON.stringify(text)}).`);
  });
}

test('a number in a query with decimal digits is accepted', () => {
  const check = compileValidator({ schema: ListQuery, method: 'GET', url: '/', httpPart: 'querystring' });
  const query = { limit: '07' };
  assert.equal(check(query), true);
  assert.equal(Number(query.limit), 7);
});
