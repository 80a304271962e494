import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ErrorMapping } from '@quartermaster/plugin-kit';
import type { Answer } from './answer.ts';
import { compileErrorRules, mergeErrorMappings } from './error-rules.ts';
import { upstreamProblem } from './problems.ts';
import { findReason, reasonLimits } from './read-reason.ts';
import { failureOf, maxRetryAfterSeconds } from './upstream-failure.ts';

/** Error bodies in the forms of public APIs, with the code and the message that a reader would name. */
const bodies: ReadonlyArray<readonly [unknown, string | null, string | null]> = [
  [{ error: { code: 404, message: 'No such model.', status: 'NOT_FOUND' } }, 'NOT_FOUND', 'No such model.'],
  [{ error: { type: 'card_error', message: 'Declined' } }, 'card_error', 'Declined'],
  [{ type: 'error', error: { type: 'not_found_error', message: 'Gone' } }, 'not_found_error', 'Gone'],
  [{ message: 'Not Found', documentation_url: 'https://example.com' }, null, 'Not Found'],
  [{ error: 'invalid_grant', error_description: 'The code expired.' }, 'invalid_grant', 'The code expired.'],
  [{ error: 'no such thing' }, null, 'no such thing'],
  [{ errors: [{ message: 'Bad field', extensions: { code: 'BAD' } }] }, 'BAD', 'Bad field'],
  [{ errors: [{ title: 'Bad', detail: 'The name is empty.', code: 'name' }] }, 'name', 'The name is empty.'],
  [{ errors: ['name is empty'] }, null, 'name is empty'],
  [{ type: 'about:blank', title: 'Conflict', status: 404 }, null, 'Conflict'],
  [{ type: 'https://e.com/p', title: 'Funds', detail: 'No money.' }, 'https://e.com/p', 'No money.'],
  [{ detail: [{ loc: ['q'], msg: 'field required', type: 'missing' }] }, 'missing', 'field required'],
  [[{ message: 'Session expired', errorCode: 'INVALID_SESSION_ID' }], 'INVALID_SESSION_ID', 'Session expired'],
  [{ code: 1006, message: 'No location found.' }, '1006', 'No location found.'],
  ['plain text', null, 'plain text'],
  [{ message: '  two\n lines\u0007 ' }, null, 'two lines'],
  [{ message: '', detail: 'used instead' }, null, 'used instead'],
  [{ message: { nested: true } }, null, null],
  [JSON.parse('{"__proto__":{"message":"inherited"},"constructor":1}'), null, null],
  [{}, null, null],
  [[], null, null],
  [null, null, null],
  [7, null, null],
];

for (const [body, code, message] of bodies) {
  test(`the reason in ${JSON.stringify(body)} has the code ${code} and the message ${message}`, () => {
    assert.deepEqual(findReason(body, 404), { code, message });
  });
}

const rulesOf = (bundle?: ErrorMapping, own?: ErrorMapping) => compileErrorRules(mergeErrorMappings(bundle, own));
const answerOf = (status: number, body: unknown, headers: Record<string, string> = {}): Answer => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
});

test('a long reason is cut, and a very long answer gives none', () => {
  const long = failureOf(answerOf(400, { code: 'c'.repeat(5000), message: 'ä'.repeat(20_000) }), { rules: rulesOf() });
  assert.equal(long.upstreamMessage?.length, reasonLimits.message);
  assert.equal(long.upstreamCode?.length, reasonLimits.code);
  const longer = failureOf(answerOf(400, { message: 'x'.repeat(70_000) }), { rules: rulesOf() });
  assert.deepEqual([longer.kind, longer.upstreamMessage], ['upstream_rejected', null]);
});

test('a reason is never taken from a page or from bytes', () => {
  for (const [type, body] of [
    ['text/html', 'Not here'],
    ['application/json', '<!doctype html><p>Bad'],
    ['image/png', '\u0089PNG'],
    ['application/json', ''],
  ] as const) {
    const failure = failureOf(answerOf(404, body, { 'content-type': type }), { rules: rulesOf() });
    assert.deepEqual([failure.upstreamCode, failure.upstreamMessage], [null, null], body);
  }
});

test('characters that change the reading order or hide words are replaced in the code, the message and the excerpt', () => {
  const hidden = ['\u202e', '\u2066', '\u200b', '\u00ad', '\u061c', '\u3164', '\u{e0041}'];
  for (const character of hidden) {
    const body = { code: `a${character}b`, message: `pay${character}no\u200dt \u200f\u05d0` };
    const failure = failureOf(answerOf(400, body), { rules: rulesOf() });
    assert.deepEqual([failure.upstreamCode, failure.upstreamMessage], ['a\ufffdb', 'pay\ufffdno\u200dt \u200f\u05d0']);
    const [detail] = upstreamProblem(failure, 'r').details ?? [];
    assert.ok(!JSON.stringify(detail).includes(character), JSON.stringify(detail));
  }
});

test('each status of a third party says whether the same request may succeed later', () => {
  const failed = ['PROVIDER_ERROR', undefined];
  const expected: Readonly<Record<number, readonly unknown[]>> = {
    ...Object.fromEntries([400, 403, 404, 409, 410, 422, 423, 424].map((one) => [one, ['PROVIDER_REJECTED', false]])),
    ...Object.fromEntries(
      [408, 500, 502, 503, 504, 529, 520, 521, 522, 523, 524, 525, 526, 527].map((one) => [one, failed]),
    ),
    425: ['PROVIDER_REJECTED', true],
    429: ['PROVIDER_RATE_LIMITED', true],
  };
  for (const [status, answer] of Object.entries(expected)) {
    const { code, details } = upstreamProblem(failureOf(answerOf(Number(status), {}), { rules: rulesOf() }), 'r');
    assert.deepEqual([code, details?.[0]?.retryable], answer, status);
  }
});

test('the errors of a call replace single members of those of its bundle', () => {
  const bundle = { message: 'body.a', code: 'body.b', statuses: { 404: 'Not in the bundle.', 409: 'Twice.' } };
  const rules = rulesOf(bundle, { message: 'body.c', statuses: { 404: 'Not in the call.' } });
  const missing = failureOf(answerOf(404, { a: 'A', b: 'B', c: 'C' }), { rules });
  assert.deepEqual([missing.upstreamCode, missing.upstreamMessage], ['B', 'C']);
  assert.match(upstreamProblem(missing, 'r').message, /\(status 404\): Not in the call\.$/);
  assert.match(upstreamProblem(failureOf(answerOf(409, {}), { rules }), 'r').message, /Twice\.$/);
});

test('a code and a message beyond 2^53 keep their digits, at the usual places and at those of the manifest', () => {
  const body = '{"code": 12345678901234567890, "message": 98765432109876543210, "own": 1234567890123456789}';
  const usual = failureOf(answerOf(404, body), { rules: rulesOf() });
  assert.deepEqual([usual.upstreamCode, usual.upstreamMessage], ['12345678901234567890', '98765432109876543210']);
  const named = failureOf(answerOf(404, body), { rules: rulesOf({ code: 'body.own', message: 'body.own' }) });
  assert.deepEqual([named.upstreamCode, named.upstreamMessage], ['1234567890123456789', '1234567890123456789']);
});

test('a message of the manifest for a status is also the message of rejected credentials', () => {
  const rules = rulesOf({ statuses: { 401: 'Renew the key in the portal.', 403: 'Ask for the scope.' } });
  for (const [status, blamesCredentials, message] of [
    [401, undefined, /\(status 401\): Renew the key in the portal\. Check them/],
    [403, true, /rejected the credentials \(status 403\): Ask for the scope\. Check them/],
    [403, false, /rejected the request \(status 403\): Ask for the scope\.$/],
  ] as const) {
    const options = blamesCredentials === undefined ? { rules } : { rules, blamesCredentials };
    const failure = failureOf(answerOf(status, { message: 'No' }), options);
    const problem = upstreamProblem(failure, 'r');
    assert.match(problem.message, message);
    assert.equal(failure.upstreamMessage, 'No');
  }
});

test('an expression that takes too many steps leaves the usual places', () => {
  const rules = rulesOf({ message: `${'[@, @] | '.repeat(60)}to_string(@)` });
  assert.equal(failureOf(answerOf(404, { message: 'No order' }), { rules }).upstreamMessage, 'No order');
});

test('Retry-After of a third party is bounded, and one that is not readable is left out', () => {
  for (const [value, seconds] of [
    ['0', 0],
    ['7', 7],
    ['999999999', maxRetryAfterSeconds],
    ['Fri, 31 Dec 9999 23:59:59 GMT', maxRetryAfterSeconds],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
    ['-5', null],
    ['1.5', null],
    ['soon', null],
    ['', null],
  ] as const) {
    const failure = failureOf(answerOf(429, {}, { 'retry-after': value }), { rules: rulesOf() });
    assert.ok(failure.kind === 'upstream_rate_limited');
    assert.equal(failure.retryAfterSeconds, seconds, value);
    const header = upstreamProblem(failure, 'r').headers['Retry-After'];
    assert.equal(header, seconds === null ? undefined : String(seconds));
  }
});
