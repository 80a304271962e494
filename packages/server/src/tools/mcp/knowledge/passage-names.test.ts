import assert from 'node:assert/strict';
import { test } from 'node:test';
import { titleOf } from './passage-names.ts';

const named = { title: null, fileName: null, fileId: null, url: null };

test('the title of a document over MCP has no control characters and no overrides of the text direction', () => {
  assert.equal(titleOf({ ...named, title: 'invoice\u202efdp.txt' }, ''), 'invoice\ufffdfdp.txt');
  assert.equal(titleOf(undefined, 'one\ttwo\u001b[2J\nthree'), 'one two\ufffd[2J');
});
