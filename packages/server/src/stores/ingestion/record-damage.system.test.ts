import assert from 'node:assert/strict';
import { test } from 'node:test';
import { databaseUnreachable } from '../../storage/database/problems.ts';
import { createTestFiles, openTestCollection, openTestService } from '../collections/testing/test-collections.suite.ts';
import { BlobUnreadable } from '../files/blob-store.ts';
import { StoredContentDamaged } from '../files/file-access.ts';

const failures = [
  { name: 'is damaged', fail: () => new StoredContentDamaged(), tries: 1 },
  { name: 'cannot be read', fail: () => new BlobUnreadable(new Error('EIO')), tries: 3 },
];

for (const { name, fail, tries } of failures) {
  test(`a record whose stored file ${name} ends in an error that says to upload it again, and is ready after a retry`, async (t) => {
    const files = createTestFiles();
    const { open } = files;
    let opened = 0;
    files.open = async function* (file) {
      opened += 1;
      if (opened <= tries) throw fail();
      yield* open(file);
    };
    const { projectId, record, call, settled, collectionId } = await openTestCollection(t, { files });
    const fileId = files.add(projectId, 'record_file', 'tea.md', 'green tea');
    const ended = await record(collectionId, { type: 'file', file_id: fileId });
    assert.deepEqual([ended.status, ended.error.code, opened], ['error', 'content_damaged', tries]);
    assert.match(ended.error.message, /[Uu]pload the same content again/);
    await call('POST', `/v1/collections/${collectionId}/records/${ended.record_id}/retry`, {});
    assert.equal((await settled(collectionId, ended.record_id)).status, 'ready');
  });
}

test('a record waits for storage that is not available, and the attempt does not count', async (t) => {
  const files = createTestFiles();
  const { open } = files;
  let opened = 0;
  files.open = async function* (file) {
    opened += 1;
    if (opened <= 5) throw databaseUnreachable(new Error('away'));
    yield* open(file);
  };
  const { createProject } = await openTestService(t, { files });
  const { projectId, collection, record } = createProject();
  const fileId = files.add(projectId, 'record_file', 'tea.md', 'green tea');
  const created = await record(await collection(), { type: 'file', file_id: fileId });
  assert.deepEqual([created.status, opened], ['ready', 6]);
});
