import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseConfig } from '../settings/config.ts';
import { transportWarnings } from './run.ts';

const cases: ReadonlyArray<readonly [string, Record<string, string>, RegExp | null]> = [
  ['the default settings', {}, null],
  ['another address without https', { HOST: '0.0.0.0' }, /QUARTERMASTER_HOST/],
  ['another address behind a proxy with TLS', { HOST: '0.0.0.0', PUBLIC_FILES_URL: 'https://q.example.com' }, null],
  ['another address behind a proxy without TLS', { HOST: '::', PUBLIC_FILES_URL: 'http://q.example.com' }, /passwords/],
  ['PostgreSQL on another machine', { DATABASE_URL: 'postgres://u:p@db.example.com/q' }, /sslmode=verify-full/],
  ['PostgreSQL with TLS off', { DATABASE_URL: 'postgres://u:p@db.example.com/q?sslmode=disable' }, /PostgreSQL/],
  ['PostgreSQL with TLS', { DATABASE_URL: 'postgres://u:p@db.example.com/q?sslmode=verify-full' }, null],
  ['PostgreSQL on this machine', { DATABASE_URL: 'postgres://u:p@127.0.0.1/q' }, null],
  ['PostgreSQL by a socket', { DATABASE_URL: 'postgres:///q?host=/run/postgresql' }, null],
  [
    'an embedding service without TLS',
    { EMBEDDING_PROVIDER: 'openai', EMBEDDING_URL: 'http://models.example.com/v1' },
    /EMBEDDING_URL/,
  ],
  ['an embedding service here', { EMBEDDING_PROVIDER: 'openai', EMBEDDING_URL: 'http://127.0.0.1:1/v1' }, null],
];

for (const [name, settings, expected] of cases) {
  test(`a start warns of connections without encryption only: ${name}`, () => {
    const variables = Object.entries(settings).map(([key, value]) => [`QUARTERMASTER_${key}`, value]);
    const warnings = transportWarnings(parseConfig(Object.fromEntries(variables)));
    assert.equal(warnings.length, expected === null ? 0 : 1, warnings.join());
    if (expected !== null) assert.match(warnings.join(), expected);
    assert.ok(!warnings.join().includes('u:p@'));
  });
}
