import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { findSource } from './bundle-source.ts';

test('a source is recognised by its name or by its first bytes', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-source-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const write = async (name: string, content: string | Buffer) => {
    await writeFile(join(folder, name), content);
    return join(folder, name);
  };
  assert.deepEqual(await findSource('@a/piece-tea@1.0.0', {}), {
    kind: 'piece',
    package: '@a/piece-tea',
    version: '1.0.0',
  });
  const url = 'https://api.example.com/openapi.json';
  assert.deepEqual(await findSource(url, { server: 'https://b.example' }), {
    kind: 'openapi',
    url,
    server: 'https://b.example',
  });
  const mcp = await findSource(undefined, { mcp: url, bearer: 'TOKEN', operations: ['a'] });
  assert.deepEqual(mcp, { kind: 'mcp', url, bearer: 'TOKEN', credentials: {}, operations: ['a'] });
  assert.deepEqual(await findSource(url, { header: { 'X-Key': 'KEY' } }), {
    kind: 'mcp',
    url,
    headers: { 'X-Key': 'KEY' },
    credentials: {},
  });
  const gzip = Buffer.from([0x1f, 0x8b, 8]);
  assert.deepEqual(await findSource(await write('tea', gzip), {}), {
    kind: 'piece_file',
    content: gzip.toString('base64'),
  });
  assert.equal((await findSource(await write('tea.qmb', 'PK..'), {})).kind, 'archive');
  assert.deepEqual(await findSource(undefined, { from: await write('api.yaml', 'openapi: 3.1.0') }), {
    kind: 'openapi',
    content: 'openapi: 3.1.0',
  });
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  await assert.rejects(findSource(pipe, {}), /is not a regular file/);
  await assert.rejects(findSource(undefined, {}), /Name one package/);
  await assert.rejects(findSource('@a/b', { mcp: url }), /Name one package/);
});
