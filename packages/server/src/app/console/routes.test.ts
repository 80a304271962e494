import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { createTestApp } from '../../platform/http/testing/test-app.ts';
import type { ConsoleFile, ConsoleFiles } from './console-files.ts';
import { consoleRoutes, isConsolePath, referenceRoutes } from './routes.ts';

const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

test('a browser gets the console with status 404 for an unknown path, other clients and paths of the API get JSON', async (t) => {
  const app = createTestApp();
  t.after(() => app.close());
  const page: ConsoleFile = { name: 'index.html', type: 'text/html', hash: '', digests: { identity: '' } };
  const files: ConsoleFiles = {
    find: async (name) => (name === page.name ? page : undefined),
    read: async () => Buffer.from('<p>the console'),
    findChanged: async () => [],
  };
  consoleRoutes(app, { files, basePath: '' });
  const get = async (url: string, accept: string) => {
    const { statusCode, headers, body } = await app.inject({ url, headers: { accept } });
    return [statusCode, headers['content-type']?.toString().split(';')[0], body.includes('the console')];
  };
  assert.deepEqual(await get('/runs', browser), [200, 'text/html', true]);
  for (const path of ['/zzz', '/plugins', '/runs-of-today?x=1', '/v1x']) {
    assert.deepEqual(await get(path, browser), [404, 'text/html', true], path);
    for (const accept of ['*/*', 'application/json']) {
      assert.deepEqual(await get(path, accept), [404, 'application/json', false], path);
    }
  }
  for (const path of '/v1/zzz /v1?x=1 /plugins/v1/zzz /openai/v1/zzz /assets/zzz.js /mcp/zzz /dify/zzz'.split(' ')) {
    assert.deepEqual(await get(path, browser), [404, 'application/json', false], path);
  }
  const posted = await app.inject({ method: 'POST', url: '/zzz', headers: { accept: browser } });
  assert.equal(posted.headers['content-type']?.toString().split(';')[0], 'application/json');
});

test('the address of the API reference with a slash leads to the one without, below the base path', async (t) => {
  const app = createTestApp();
  t.after(() => app.close());
  const none = async (): Promise<never> => assert.fail('no file is read');
  referenceRoutes(app, { files: { find: none, read: none, findChanged: none }, basePath: '/qm' });
  const { statusCode, headers } = await app.inject({ url: '/docs/api/' });
  assert.deepEqual([statusCode, headers.location], [301, '/qm/docs/api']);
});

test('the service answers every page that the console has', async () => {
  const router = await readFile(new URL('../../../../console/src/app/router.tsx', import.meta.url), 'utf8');
  const pages = [...router.matchAll(/^ +path: '([^']+)',$/gm)].map(([, path]) => path ?? '');
  assert.equal(pages.length, router.split('createRoute({').length - 1);
  assert.deepEqual(
    pages.filter((page) => !isConsolePath(page.replaceAll(/\$\w+/g, 'any'))),
    [],
  );
});
