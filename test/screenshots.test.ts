import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';

const root = resolve(import.meta.dirname, '..');

test('the repository holds the eight screenshots that README.md shows and no others', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const shown = [...readme.matchAll(/\]\(docs\/screenshots\/([^)]+)\)/g)].map(([, name]) => name);
  assert.deepEqual(readdirSync(join(root, 'docs/screenshots')).sort(), shown.sort());
  assert.equal(shown.length, 8);
});
