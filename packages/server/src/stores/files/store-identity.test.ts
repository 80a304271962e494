import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { assertFolderId, folderIds, identityFile } from './store-identity.ts';

test('a data folder keeps the claimed id while two starts in a row fail between its new id and the claim', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-identity-'));
  t.after(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, identityFile), JSON.stringify({ store_id: 'store', folder_id: 'claimed' }));
  for (const newId of ['first', 'second']) await folderIds.prepare(folder, { claimedId: 'claimed', newId });
  await assertFolderId(folder, 'claimed');
  await assertFolderId(folder, 'second');
  await folderIds.finish(folder, 'second');
  await assertFolderId(folder, 'second');
  await assert.rejects(assertFolderId(folder, 'claimed'), /is not the data folder/);
});
