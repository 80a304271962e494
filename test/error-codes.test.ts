import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { errorCodes } from '@quartermaster/contract';

const sources = resolve(import.meta.dirname, '../packages/server/src');
const exclude = ['**/*.test.ts', '**/*.suite.ts', '**/*.fixture.ts', '**/testing/**'];

test('production code of the server uses every documented error code', () => {
  const texts = globSync('**/*.ts', { cwd: sources, exclude }).map((file) => readFileSync(join(sources, file), 'utf8'));
  assert.ok(texts.length > 500, `only ${texts.length} files`);
  const unused = Object.keys(errorCodes).filter((code) => !texts.some((text) => text.includes(`'${code}'`)));
  assert.deepEqual(unused, []);
});
