import assert from 'node:assert/strict';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { createFolderPath } from './sync-to-disk.ts';

test('a folder is created with all missing parents and the given mode', async (t) => {
  const path = join(await temporaryFolder(t), 'a/b/c');
  await Promise.all([createFolderPath(path, 0o700), createFolderPath(path, 0o700)]);
  assert.equal((await stat(path)).mode & 0o777, 0o700);
});

test('a folder below a file is refused', async (t) => {
  const file = join(await temporaryFolder(t), 'file');
  await writeFile(file, '');
  await assert.rejects(createFolderPath(join(file, 'a/b'), 0o700), { code: 'ENOTDIR' });
  await assert.rejects(createFolderPath(file, 0o700), { code: 'ENOTDIR' });
});

test('a file system that refuses folders makes the call fail', { skip: process.platform !== 'linux' }, async () => {
  await assert.rejects(createFolderPath('/proc/quartermaster/a', 0o700), { code: 'ENOENT' });
});
