import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { createNewId } from '../../../platform/identifier.ts';
import { BlobMissing, type BlobStore, type StagedBlob } from '../blob-store.ts';

/** Tests the behaviour of every blob store. `open` returns an empty store and its clean-up. */
export function describeBlobStore(
  name: string,
  openStore: () => Promise<{ store: BlobStore; release: () => Promise<void> }>,
): void {
  describe(`blob store: ${name}`, () => {
    let store: BlobStore;
    let release: () => Promise<void>;
    const newId = createNewId();
    before(async () => {
      ({ store, release } = await openStore());
    });
    after(() => release());

    async function stage(content: Buffer, pieceSize = 64 * 1024): Promise<StagedBlob> {
      const staged = store.stage(newId('blob'));
      for (let at = 0; at < content.length; at += pieceSize) {
        await staged.append(Buffer.from(content.subarray(at, at + pieceSize)));
      }
      return staged;
    }
    async function keep(content: Buffer): Promise<string> {
      const staged = await stage(content);
      await staged.finish();
      await staged.commit();
      return staged.blobId;
    }
    async function listed(): Promise<Map<string, number>> {
      const found = new Map<string, number>();
      for await (const blob of store.list()) found.set(blob.blobId, blob.bytes);
      return found;
    }

    for (const size of [0, 1, 65_535, 65_536, 1_048_575, 1_048_576, 1_048_577, 3_000_001, 40_000_000]) {
      test(`${size} bytes are returned unchanged with their digest`, async () => {
        const content = randomBytes(size);
        const staged = await stage(content);
        const digest = await staged.finish();
        assert.deepEqual(digest, { bytes: size, sha256: createHash('sha256').update(content).digest('hex') });
        await staged.commit();
        assert.ok(content.equals(await buffer(await store.open(staged.blobId))));
        assert.equal(await store.size(staged.blobId), size);
      });
    }

    test('a blob that arrives byte by byte is complete', async () => {
      const content = randomBytes(5000);
      const staged = await stage(content, 1);
      await staged.finish();
      await staged.commit();
      assert.ok(content.equals(await buffer(await store.open(staged.blobId))));
    });

    test('a range returns exactly its bytes', async () => {
      const content = randomBytes(1_000_000);
      const blobId = await keep(content);
      for (const range of [
        { start: 0, end: 0 },
        { start: 10, end: 700_000 },
        { start: 999_999, end: 999_999 },
      ]) {
        const found = await buffer(await store.open(blobId, range));
        assert.ok(content.subarray(range.start, range.end + 1).equals(found));
      }
    });

    test('a finished blob can be read before its commit, in memory and on disk', async () => {
      for (const size of [1000, 3_000_000]) {
        const content = randomBytes(size);
        const staged = await stage(content);
        await staged.finish();
        assert.ok(content.subarray(5, 105).equals(await staged.read(5, 100)));
        assert.ok(content.subarray(size - 10).equals(await staged.read(size - 10, 100)));
        assert.equal((await staged.read(size + 5, 10)).length, 0);
        await staged.commit();
        assert.ok(content.equals(await buffer(await store.open(staged.blobId))));
      }
    });

    test('a blob before its commit is neither listed nor opened, and discarding it leaves nothing', async () => {
      for (const size of [1000, 3_000_000]) {
        const staged = await stage(randomBytes(size));
        await staged.finish();
        assert.equal((await listed()).has(staged.blobId), false);
        await assert.rejects(store.open(staged.blobId), BlobMissing);
        await staged.discard();
        await staged.discard();
        assert.equal(await store.size(staged.blobId), undefined);
      }
    });

    test('a discard during a write waits for it and leaves nothing', async () => {
      const staged = store.stage(newId('blob'));
      for (let index = 0; index < 64; index += 1) staged.append(randomBytes(64 * 1024));
      await staged.discard();
      assert.equal(await store.size(staged.blobId), undefined);
    });

    test('a discard after the commit has no effect', async () => {
      const staged = await stage(randomBytes(10));
      await staged.finish();
      await staged.commit();
      await staged.discard();
      assert.equal(await store.size(staged.blobId), 10);
    });

    test('a removed blob does not exist, and removing it again succeeds', async () => {
      const blobId = await keep(randomBytes(100));
      await store.remove(blobId);
      await store.remove(blobId);
      assert.equal((await listed()).has(blobId), false);
      await assert.rejects(
        store.open(blobId),
        (error: unknown) => error instanceof BlobMissing && error.blobId === blobId,
      );
    });

    test('a quarantined blob is found only there and is restored unchanged', async () => {
      const content = randomBytes(1000);
      const blobId = await keep(content);
      assert.equal(await store.quarantine.add(blobId), true);
      assert.equal(await store.quarantine.add(blobId), false);
      assert.equal(await store.size(blobId), undefined);
      assert.equal((await listed()).has(blobId), false);
      await assert.rejects(store.open(blobId), BlobMissing);
      const [held] = await Array.fromAsync(store.quarantine.list());
      assert.deepEqual([held?.blobId, held?.bytes], [blobId, 1000]);
      assert.ok(content.equals(await buffer(await store.quarantine.open(blobId))));
      assert.equal(await store.quarantine.restore(blobId), 'restored');
      assert.equal(await store.quarantine.restore(blobId), 'absent');
      assert.ok(content.equals(await buffer(await store.open(blobId))));
      await store.remove(blobId);
    });

    test('removing a blob also erases it from the quarantine, and purging it erases it', async () => {
      const [removed, purged] = [await keep(randomBytes(10)), await keep(randomBytes(10))];
      for (const blobId of [removed, purged]) await store.quarantine.add(blobId);
      await store.remove(removed);
      assert.equal(await store.quarantine.purge(purged), true);
      assert.equal(await store.quarantine.purge(purged), false);
      assert.deepEqual(await Array.fromAsync(store.quarantine.list()), []);
    });

    test('many blobs that are committed concurrently all exist', async () => {
      const ids = await Promise.all(Array.from({ length: 100 }, () => keep(randomBytes(2000))));
      const found = await listed();
      for (const id of ids) assert.equal(found.get(id), 2000);
    });

    test('a name that is not a generated id is refused before it is part of a path', async () => {
      for (const bad of ['../../etc/passwd', 'blob', '', `blob${'/'.repeat(20)}`, `file${'0'.repeat(20)}`]) {
        assert.throws(() => store.stage(bad));
        await assert.rejects(async () => store.open(bad));
        await assert.rejects(async () => store.remove(bad));
        await assert.rejects(async () => store.quarantine.add(bad));
        await assert.rejects(async () => store.quarantine.purge(bad));
      }
    });

    test('the check of a working store passes', async () => {
      await store.check();
    });
  });
}
