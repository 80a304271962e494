import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { replaceFile } from './replace-file.ts';

test('a file is replaced as a whole, and a link in its place is not followed', async (t) => {
  const folder = await temporaryFolder(t);
  await writeFile(join(folder, 'elsewhere'), 'theirs');
  await symlink('elsewhere', join(folder, 'mine'));
  for (const content of ['one', Buffer.from('two')]) {
    await replaceFile(join(folder, 'mine'), content);
    assert.equal(await readFile(join(folder, 'mine'), 'utf8'), String(content));
  }
  assert.equal(await readFile(join(folder, 'elsewhere'), 'utf8'), 'theirs');
  assert.deepEqual(await readdir(folder), ['elsewhere', 'mine']);
});

test('a failed write leaves the old file unchanged and no temporary file behind', async (t) => {
  const folder = await temporaryFolder(t);
  await mkdir(join(folder, 'folder'));
  await assert.rejects(replaceFile(join(folder, 'folder'), 'x'), /EISDIR/);
  await writeFile(join(folder, 'mine'), 'before');
  // Limits files to a few KiB, like a full disk.
  const source = `import(${JSON.stringify(import.meta.resolve('./replace-file.ts'))}).then(({ replaceFile }) =>
    replaceFile(${JSON.stringify(join(folder, 'mine'))}, Buffer.alloc(2 ** 20)))`;
  const { status, stderr } = spawnSync('/bin/sh', [
    '-c',
    'ulimit -f 4; exec "$@"',
    'sh',
    process.execPath,
    '-e',
    source,
  ]);
  assert.equal(status, 1);
  assert.match(String(stderr), /EFBIG/);
  assert.equal(await readFile(join(folder, 'mine'), 'utf8'), 'before');
  assert.deepEqual(await readdir(folder), ['folder', 'mine']);
});
