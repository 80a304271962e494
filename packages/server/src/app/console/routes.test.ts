import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { isConsolePath } from './routes.ts';

test('the service answers every page that the console has', async () => {
  const router = await readFile(new URL('../../../../console/src/app/router.tsx', import.meta.url), 'utf8');
  const pages = [...router.matchAll(/^ +path: '([^']+)',$/gm)].map(([, path]) => path ?? '');
  assert.equal(pages.length, router.split('createRoute({').length - 1);
  assert.deepEqual(
    pages.filter((page) => !isConsolePath(page.replaceAll(/\$\w+/g, 'any'))),
    [],
  );
});
