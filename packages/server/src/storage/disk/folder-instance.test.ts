import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { folderInstance } from './folder-lock.ts';

test('the first part of a folder instance tells folders apart and survives changes, the second part is that of the machine', async (t) => {
  const folders = await Promise.all([0, 1].map(() => mkdtemp(join(tmpdir(), 'quartermaster-instance-'))));
  t.after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));
  const [first = '', second = ''] = await Promise.all(folders.map(folderInstance));
  const parts = /^([0-9a-f]{32})\.([0-9a-f]{32})$/;
  const [, place, machine] = parts.exec(first) ?? assert.fail(first);
  const [, otherPlace, sameMachine] = parts.exec(second) ?? assert.fail(second);
  assert.deepEqual([place === otherPlace, machine === sameMachine], [false, true]);
  await writeFile(join(folders[0] ?? '', 'store.json'), '{}');
  assert.equal(await folderInstance(folders[0] ?? ''), first);
});
