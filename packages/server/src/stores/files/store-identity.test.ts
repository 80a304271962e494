import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../platform/testing/temporary-folder.ts';
import { assertFolderId, folderIds, identityFile } from './store-identity.ts';

test('a data folder keeps the claimed id while two starts in a row fail between its new id and the claim', async (t) => {
  const folder = await temporaryFolder(t);
  await writeFile(join(folder, identityFile), JSON.stringify({ store_id: 'store', folder_id: 'claimed' }));
  for (const newId of ['first', 'second']) await folderIds.prepare(folder, { claimedId: 'claimed', newId });
  await assertFolderId(folder, 'claimed');
  await assertFolderId(folder, 'second');
  await folderIds.finish(folder, 'second');
  await assertFolderId(folder, 'second');
  await assert.rejects(assertFolderId(folder, 'claimed'), /is not the data folder/);
});
