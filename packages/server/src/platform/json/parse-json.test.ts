import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseJson, withPlainNames } from './parse-json.ts';

const text = fc.oneof(
  fc.string({ maxLength: 3 }),
  fc.constantFrom('\\', '"', '\\u', '\n', '\ude00', '\ud83d', '\0', '1', '__proto__', 'constructor', 'h'),
);

test('a name with an escape is read correctly after an object that had a name with a backslash', () => {
  parseJson(String.raw`{"h":[],"\\":0}`);
  JSON.parse(String.raw`{"h":[],"\\":0}`);
  assert.deepEqual(parseJson(String.raw`{"h":1,"\"":2}`), { h: 1, '"': 2 });
  assert.deepEqual(parseJson(String.raw`[{"h":"x","\ude00" : {"h":1,"\n":[{}]}}]`), [
    { h: 'x', '\ude00': { h: 1, '\n': [{}] } },
  ]);
  JSON.parse(String.raw`{"n":[],"\\u006":0}`);
  assert.deepEqual(parseJson(String.raw`{"n":1,"\u0061bcde":2}`), { n: 1, abcde: 2 });
});

test('a name with an escape is found before each blank of JSON, and before no other', () => {
  for (const blank of [' ', '\t', '\n', '\r', ' \t\r\n'.repeat(1_000)]) {
    assert.equal(withPlainNames(String.raw`{"\u0061"${blank}:1}`).text, `{"a"${blank}:1}`);
  }
  for (const other of ['\v', '\f', '\u00a0', '\ufeff', ',']) {
    const text = String.raw`{"\u0061"${other}:1}`;
    assert.equal(withPlainNames(text).text, text);
  }
});

test('every value that was written as JSON is read again, whatever its names are', () => {
  fc.assert(
    fc.property(fc.array(fc.dictionary(text, fc.oneof(text, fc.dictionary(text, text)))), (values) => {
      for (const value of values) assert.deepEqual(parseJson(JSON.stringify(value)), asRead(value));
    }),
    { numRuns: 500 },
  );
});

/** Adds prototypes, because a generated dictionary may have none. */
function asRead(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, asRead(each)]));
}

test('the last of several names that are equal after unescaping is used', () => {
  assert.deepEqual(parseJson(String.raw`{"a":1,"\u0061":2,"a":3}`), { a: 3 });
  assert.deepEqual(parseJson(String.raw`{"\n":1,"\u000a":2}`), { '\n': 2 });
});

test('invalid JSON fails as it does with JSON.parse', () => {
  for (const wrong of [String.raw`{"\"":}`, String.raw`{"\x":1}`, String.raw`{"a\"`, '"\\":', '{"\\ude":1}', '']) {
    const message = (() => {
      try {
        return JSON.parse(wrong);
      } catch (error) {
        return (error as Error).message;
      }
    })();
    assert.throws(() => parseJson(wrong), { name: 'SyntaxError', message });
  }
});
