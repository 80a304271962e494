import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { guideTo } from './guides.ts';

test('each page of the console leads to a page of the documentation that exists', () => {
  const router = readFileSync(join(import.meta.dirname, 'router.tsx'), 'utf8');
  const paths = [...router.matchAll(/path: '([^']+)'/g)].map(([, path = '']) => path);
  assert.ok(paths.length > 15, 'the paths of the router are found');
  const docs = join(import.meta.dirname, '../../../../docs');
  // The page on which a person lets an application in has one task.
  for (const path of paths.filter((one) => !one.startsWith('/oauth/'))) {
    const guide = guideTo(path);
    assert.ok(guide !== undefined && existsSync(join(docs, `${guide}.md`)), `${path} leads to ${guide}`);
  }
});
