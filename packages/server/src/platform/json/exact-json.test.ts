import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { convertBigInts, parseExactJson } from './exact-json.ts';
import { parseJson } from './parse-json.ts';

test('integers beyond 2^53 keep their digits at every place of a value', () => {
  for (const text of [
    '1234567890123456789',
    '-9223372036854775808',
    '{"id":18446744073709551615,"list":[-1234567890123456789,{"a\\"b":9007199254740993}]}',
    '{"id":[9007199254740991,9007199254740992,1]}',
    String.raw`{"\\":12345678901234567890,"__proto__":{"n":12345678901234567890}}`,
  ]) {
    assert.equal(JSON.stringify(parseExactJson(text)), text);
  }
  assert.equal(JSON.stringify(parseExactJson('[ 1234567890123456789 , 1.0 ]')), '[1234567890123456789,1]');
  fc.assert(
    fc.property(fc.array(fc.bigInt()), (integers) => {
      const text = `{"a":[${integers.join(',')}]}`;
      assert.equal(JSON.stringify(parseExactJson(text)), text);
    }),
  );
});

test('a number that is too large for a double becomes its text, and other numbers stay numbers', () => {
  const digits = '9'.repeat(400);
  assert.deepEqual(parseExactJson(`[1e999,-1E+400,${digits},1e300,0.5,-0,12345678901234567]`), [
    ...['1e999', '-1E+400', digits, 1e300, 0.5, -0, 12345678901234567n],
  ]);
});

test('a text without long numbers is parsed as usual, and wrong JSON has the same error', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      if (!/\d{16}/.test(text)) assert.deepEqual(parseExactJson(text), parseJson(text));
    }),
  );
  assert.throws(() => parseExactJson('{"a":12345678901234567890,}'), SyntaxError);
  assert.throws(() => parseExactJson('[01234567890123456789]'), SyntaxError);
  assert.equal(parseExactJson('"1234567890123456789"'), '1234567890123456789');
});

test('a number of many digits in the place of a name is wrong JSON, and no error or name shows how it is kept', () => {
  for (const name of ['12345678901234567890', '-12345678901234567890', '1e999', '9'.repeat(400)]) {
    for (const blanks of ['', ' ', ' \t\r\n'.repeat(3)]) {
      for (const text of [`{${name}${blanks}:1}`, `[{"a":12345678901234567890,${name}${blanks}:{}}]`]) {
        assert.throws(() => parseExactJson(text), wrongJson(text), text.slice(0, 40));
      }
    }
  }
  for (const text of '1:2 | [12345678901234567890 1] | 12345678901234567890"a" | "a"12345678901234567890 | {"a"12345678901234567890}'.split(
    ' | ',
  )) {
    assert.throws(() => parseExactJson(text), wrongJson(text), text);
  }
  assert.equal(JSON.stringify(parseExactJson('{":":12345678901234567890}')), '{":":12345678901234567890}');
});

/** The error of the parser for the original text. */
function wrongJson(text: string): { readonly name: string; readonly message: string } {
  try {
    JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return { name: error.name, message: error.message };
  }
  assert.fail(`valid JSON: ${text}`);
}

test('each BigInt of a value is converted, and a value without any is returned itself', () => {
  const value = { a: [1, { b: 2 }] };
  assert.equal(convertBigInts(value, String), value);
  assert.deepEqual(convertBigInts({ a: [1n, { b: 2 }], c: null }, String), { a: ['1', { b: 2 }], c: null });
});
