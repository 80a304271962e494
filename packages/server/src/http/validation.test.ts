import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ListQuery, MetadataFilter, PasswordChange, SetUp, SignIn } from '@quartermaster/contract';
import { Type } from 'typebox';
import { compileValidator, validationProblem } from './validation.ts';

const Value = Type.Union([Type.String({ maxLength: 3 }), Type.Integer({ minimum: 1 }), Type.Null()]);
const schema = Type.Object({ filters: Type.Optional(MetadataFilter), value: Type.Optional(Value) });
const validate = compileValidator({ schema, method: 'POST', url: '/', httpPart: 'body' });

function complaintAbout(body: unknown): string {
  assert.equal(validate(body), false);
  const { message, details } = validationProblem(validate.errors as Parameters<typeof validationProblem>[0]);
  assert.equal(details?.length, 1);
  return message;
}

const is = (n: number) => ({ type: 'eq', key: 'a', value: n });
const comparisons = '"eq", "ne", "gt", "gte", "lt", "lte", "in", "nin"';

const cases: ReadonlyArray<readonly [what: string, body: object, complaint: string]> = [
  ['no form at all', { filters: 'x' }, 'filters: found "x"; expected type object.'],
  ['no name of a form', { filters: { key: 'a', value: 1 } }, 'filters/type: found nothing; expected this field.'],
  [
    'the name of no form',
    { filters: { type: 'is', key: 'a', value: 1 } },
    `filters/type: found "is"; expected one of ${comparisons}, "and", "or".`,
  ],
  [
    'a form without a member',
    { filters: { type: 'gt', key: 'a' } },
    'filters/value: found nothing; expected this field.',
  ],
  [
    'a member of a wrong type',
    { filters: { type: 'gt', key: 'a', value: true } },
    'filters/value: found true; expected type string or number.',
  ],
  [
    'too few',
    { filters: { type: 'in', key: 'a', value: [] } },
    'filters/value: found an array of 0; expected at least one item.',
  ],
  [
    'too many',
    { filters: { type: 'or', filters: Array.from({ length: 17 }, (_, n) => is(n)) } },
    'filters/filters: found an array of 17; expected at most 16 items.',
  ],
  [
    'a form within a form',
    { filters: { type: 'and', filters: [is(1), { type: 'lt', key: '', value: 2 }] } },
    'filters/filters/1/key: found ""; expected at least one character.',
  ],
  [
    'what a form may not hold',
    { filters: { type: 'and', filters: [{ type: 'or', filters: [{ type: 'or', filters: [is(1)] }] }] } },
    `filters/filters/0/filters/0/type: found "or"; expected one of ${comparisons}.`,
  ],
  ['a text that is too long', { value: 'four' }, 'value: found "four"; expected at most 3 characters.'],
  ['a number that is too small', { value: 0 }, 'value: found 0; expected a value >= 1.'],
  ['no type of a union', { value: [] }, 'value: found an array of 0; expected type string or integer or null.'],
];

for (const [what, body, complaint] of cases) {
  test(`a value that may have several forms is judged by the one it was meant to have: ${what}`, () => {
    assert.equal(complaintAbout(body), `body/${complaint}`);
  });
}

const secret = 824_155_019;
const secrets: ReadonlyArray<readonly [schema: object, body: unknown, complaint: string]> = [
  [SetUp, { token: secret, name: 'a', password: 'b' }, 'body/token: found a number; expected type string.'],
  [SetUp, { token: '', name: 'a', password: 'b' }, 'body/token: found a string; expected at least one character.'],
  [SetUp, secret, 'body: found a number; expected type object.'],
  [SignIn, { name: 'a', password: secret }, 'body/password: found a number; expected type string.'],
  [
    PasswordChange,
    { current_password: [secret], new_password: 'b' },
    'body/current_password: found an array of 1; expected type string.',
  ],
  [
    PasswordChange,
    { current_password: 'a', new_password: secret },
    'body/new_password: found a number; expected type string.',
  ],
];

for (const [secretSchema, body, complaint] of secrets) {
  test(`a secret is never repeated: ${complaint}`, () => {
    const check = compileValidator({ schema: secretSchema, method: 'POST', url: '/', httpPart: 'body' });
    assert.equal(check(body), false);
    const problem = validationProblem(check.errors as Parameters<typeof validationProblem>[0]);
    assert.equal(problem.message, complaint);
    assert.doesNotMatch(JSON.stringify([problem.message, problem.details]), new RegExp(String(secret)));
  });
}

for (const text of ['0x10', '1e1', ' 5', '5 ', '+5', '5.0', '0b1', '']) {
  test(`a number of a query is written in decimal digits only, not as ${JSON.stringify(text)}`, () => {
    const check = compileValidator({ schema: ListQuery, method: 'GET', url: '/', httpPart: 'querystring' });
    assert.equal(check({ limit: text }), false);
    const { message } = validationProblem(check.errors as Parameters<typeof validationProblem>[0], 'querystring');
    assert.equal(message, `querystring/limit: found ${JSON.stringify(text)}; expected type integer.`);
  });
}

test('a number of a query in decimal digits is taken as that number', () => {
  const check = compileValidator({ schema: ListQuery, method: 'GET', url: '/', httpPart: 'querystring' });
  const query = { limit: '07' };
  assert.equal(check(query), true);
  assert.equal(Number(query.limit), 7);
});
