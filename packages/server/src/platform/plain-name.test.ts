import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainName } from './plain-name.ts';
import { checkName } from './validation/check-name.ts';

test('a plain name has no control characters, no line breaks and no overrides of the text direction', () => {
  assert.equal(plainName('invoice\u202efdp.txt'), 'invoice\ufffdfdp.txt');
  assert.equal(plainName('a\u2066b\u2069 \u001b[2J\u009b31m\u0000'), 'a\ufffdb\ufffd \ufffd[2J\ufffd31m\ufffd');
  assert.equal(plainName('one\r\ntwo\tthree\u2028four'), 'one  two three four');
});

test('a plain name keeps the marks that names in Arabic and Hebrew need', () => {
  for (const name of ['\u05d0\u200f!', '\u0627\u061c1', 'Zeiten – ouvert', '\u{1f600}'])
    assert.equal(plainName(name), name);
});

test('a name of a key or a project has no hidden characters, and keeps those that a script needs', () => {
  for (const name of ['tea\u202efdp', '\u200b', 'a\u2066b']) assert.throws(() => checkName(name, 64), /hidden/);
  for (const name of ['چای\u200cها', '👩\u200d👧', 'שלום\u200f']) checkName(name, 64);
});
