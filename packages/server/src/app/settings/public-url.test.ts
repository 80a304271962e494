import assert from 'node:assert/strict';
import { test } from 'node:test';
import { basePathOf } from '../../platform/http/base-path.ts';
import { parseConfig } from './config.ts';

const names = ['QUARTERMASTER_PUBLIC_FILES_URL', 'QUARTERMASTER_PUBLIC_PLUGINS_URL'] as const;

for (const [text, url, basePath] of [
  ['https://q.example.com', 'https://q.example.com', ''],
  ['https://Q.example.com:443/', 'https://q.example.com', ''],
  ['http://127.0.0.1:8080/quartermaster/', 'http://127.0.0.1:8080/quartermaster', '/quartermaster'],
  ['https://example.com/a/../b-c/d.e_f~1', 'https://example.com/b-c/d.e_f~1', '/b-c/d.e_f~1'],
] as const) {
  test(`the public URL ${text} has the base path "${basePath}"`, () => {
    const config = parseConfig(Object.fromEntries(names.map((name) => [name, text])));
    assert.deepEqual([config.publicFilesUrl, config.publicPluginsUrl], [url, url]);
    assert.equal(basePathOf(config.publicFilesUrl), basePath);
  });
}

for (const text of [
  'example.com/quartermaster',
  'ftp://example.com',
  'https://',
  'https://user@example.com/',
  'https://example.com/?a',
  'https://example.com/#a',
  'https://example.com//quartermaster',
  'https://example.com/a;b',
  'https://example.com/a"b',
  'https://example.com/a%2Fb',
  'https://example.com/a b',
]) {
  test(`a public URL of ${text} is refused`, () => {
    for (const name of names) assert.throws(() => parseConfig({ [name]: text }), new RegExp(`${name} must be an http`));
  });
}
