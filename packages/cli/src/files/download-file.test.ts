import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../../../test/support/service.ts';
import { checked, openTarget, safeName } from './download-file.ts';

test('a name of the service that leads elsewhere is not used for a file', () => {
  for (const name of [
    '',
    '.',
    '..',
    '.profile',
    '../a',
    '/etc/passwd',
    'a/b',
    'a\\b',
    '-rf',
    'a\u001b[2J',
    'a\nb',
    'a\u202eb',
  ])
    assert.throws(() => safeName(name), { exitCode: 73, message: /Name the file with --out\.$/ }, name);
  for (const name of ['a.txt', 'opening hours.pdf', '\u4e2d\u6587.md']) assert.equal(safeName(name), name);
});

test('a file that cannot be created is refused with the reason and what to do', async (t) => {
  const folder = await temporaryFolder(t);
  const taken = join(folder, 'taken.svg');
  await writeFile(taken, '');
  const missing = join(folder, 'missing');
  const isFolder = { exitCode: 73, message: `${folder} is a folder. Name a file.` };
  await assert.rejects(openTarget(join(missing, 'a.svg'), 'wx'), {
    exitCode: 66,
    message: `The folder ${missing} does not exist. Create it.`,
  });
  for (const flags of ['w', 'wx', 'r+'] as const) await assert.rejects(openTarget(folder, flags), isFolder, flags);
  await assert.rejects(openTarget(taken, 'wx'), { exitCode: 73, message: /exists already\. Replace it with --force/ });
});

test('content that differs from its size or hash fails, and content without end is cut', async () => {
  const bytes = Buffer.from('tea');
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  async function* send(...parts: readonly string[]) {
    for (const part of parts) yield Buffer.from(part);
  }
  const read = (expected: { bytes: number; sha256: string }, ...parts: readonly string[]) =>
    Array.fromAsync(checked(send(...parts), { file_name: 'a', ...expected }));
  assert.equal(Buffer.concat(await read({ bytes: 3, sha256 }, 't', 'ea')).toString(), 'tea');
  for (const [expected, parts] of [
    [{ bytes: 3, sha256 }, ['t']],
    [{ bytes: 3, sha256 }, ['teas']],
    [{ bytes: 3, sha256 }, ['tee']],
    [{ bytes: 3, sha256: sha256.toUpperCase() }, ['tea']],
  ] as const)
    await assert.rejects(read(expected, ...parts), { exitCode: 70 });
  let sent = 0;
  async function* pour() {
    for (;;) {
      sent += 1;
      yield bytes;
    }
  }
  await assert.rejects(Array.fromAsync(checked(pour(), { file_name: 'a', bytes: 30, sha256 })), { exitCode: 70 });
  assert.equal(sent, 11);
});
