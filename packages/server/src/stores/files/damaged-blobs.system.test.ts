import assert from 'node:assert/strict';
import { rm, truncate, writeFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { createTestDatabase } from '../../../../../test/support/postgres.ts';
import { createLogger } from '../../platform/log/logger.ts';
import { reconcileFiles } from './maintenance/reconcile.ts';
import { ask, upload } from './testing/ask.ts';
import { type FilesService, startFilesService } from './testing/files-service.ts';

/** Longer than one block of a download. */
const large = 'tea '.repeat(200_000);
const contentOf = (id: string) => `/v1/files/${id}/content`;

const damages: ReadonlyArray<readonly [string, (path: string) => Promise<void>]> = [
  ['missing', (path) => rm(path)],
  ['cut', (path) => truncate(path, 3)],
];

describe('a blob that is damaged', () => {
  for (const [name, damage] of damages) {
    test(`${name}: another upload of the same content is stored for every file that uses it`, async () => {
      await using service = await startFilesService();
      const first = await upload(service, { content: 'green tea' });
      await damage(await service.pathOf(first));
      const second = await upload(service, { content: 'green tea' });
      for (const id of [first, second]) assert.equal((await ask(service, contentOf(id))).text, 'green tea');
      assert.equal((await service.onDisk()).blobs.length, 1);
      assert.deepEqual(await service.quarantined(), []);
    });
  }

  for (const content of ['green tea', large]) {
    test(`changed within ${content.length} bytes: a download never ends as complete, and an upload of the same content repairs it`, async () => {
      await using service = await startFilesService();
      const first = await upload(service, { content });
      const path = await service.pathOf(first);
      await writeFile(path, `T${content.slice(1)}`);
      const answer = await ask(service, contentOf(first)).catch((error: unknown) => ({ error }));
      if ('status' in answer) assert.equal(answer.status, 503);
      else assert.match(String(answer.error), /terminated/);
      assert.equal(await service.damages.countDamaged(), 1);
      assert.equal((await service.quarantined()).length, 1);
      assert.equal((await ask(service, contentOf(first))).status, 503);

      const second = await upload(service, { content });
      for (const id of [first, second]) assert.equal((await ask(service, contentOf(id))).text, content);
      assert.equal(await service.damages.countDamaged(), 0);
      assert.deepEqual(await service.quarantined(), [], 'the wrong bytes are erased');
      await reconcile(service);
      assert.equal((await service.rows('blob')).length, 1);
    });
  }

  for (const [database, content] of [
    ['SQLite', 'green tea'],
    ['SQLite', large],
    ['PostgreSQL', 'green tea'],
  ] as const) {
    test(`changed within ${content.length} bytes and not read since: an upload of the same content replaces it, in ${database}`, async (t) => {
      const testing = database === 'PostgreSQL' ? await createTestDatabase() : null;
      t.after(() => testing?.drop());
      await using service = await startFilesService(testing === null ? {} : { databaseUrl: testing.url });
      const first = await upload(service, { content });
      await writeFile(await service.pathOf(first), `T${content.slice(1)}`);
      const others = await Promise.all(Array.from({ length: 4 }, () => upload(service, { content })));
      for (const id of [first, ...others]) assert.equal((await ask(service, contentOf(id))).text, content);
      await assertRepaired(service);
    });
  }

  test('every remaining file can be read after a changed blob was deleted during an upload of the same content', async () => {
    await using service = await startFilesService();
    for (let round = 0; round < 10; round += 1) {
      const [first, remaining] = [
        await upload(service, { content: 'green tea' }),
        await upload(service, { content: 'green tea' }),
      ];
      await writeFile(await service.pathOf(first), 'GREEN TEA');
      const [deleted, ...others] = await Promise.all([
        ask(service, `/v1/files/${first}`, { method: 'DELETE' }),
        ...Array.from({ length: 3 }, () => upload(service, { content: 'green tea' })),
      ]);
      assert.equal(deleted.status, 200);
      for (const id of [remaining, ...others]) assert.equal((await ask(service, contentOf(id))).text, 'green tea');
      await assertRepaired(service);
      for (const id of [remaining, ...others]) await ask(service, `/v1/files/${id}`, { method: 'DELETE' });
    }
  });

  test('an upload of stored content reads the stored bytes before it discards its own; an upload of new content reads nothing', async () => {
    await using service = await startFilesService();
    const stored: string[] = [];
    const { open } = service.blobs;
    service.blobs.open = (blobId: string, range) => {
      stored.push(blobId);
      return open(blobId, range);
    };
    const id = await upload(service, { content: 'green tea' });
    await upload(service, { content: 'black tea' });
    assert.deepEqual(stored, []);
    await upload(service, { content: 'green tea' });
    assert.deepEqual(stored, [(await service.files.find('projecta', id))?.blobId]);
  });

  test('a range and a HEAD of a truncated blob are refused; a range of a complete blob is served', async () => {
    await using service = await startFilesService();
    const id = await upload(service, { content: 'green tea' });
    const range = { headers: { Range: 'bytes=0-2' } };
    assert.equal((await ask(service, contentOf(id), range)).text, 'gre');
    await truncate(await service.pathOf(id), 3);
    assert.equal((await ask(service, contentOf(id), range)).status, 503);
    assert.equal((await ask(service, contentOf(id), { method: 'HEAD' })).status, 503);
  });

  test('missing bytes are served again once they are back', async () => {
    await using service = await startFilesService();
    const id = await upload(service, { content: 'green tea' });
    const path = await service.pathOf(id);
    await rm(path);
    assert.equal((await ask(service, contentOf(id))).status, 503);
    await writeFile(path, 'green tea');
    assert.equal((await ask(service, contentOf(id))).text, 'green tea');
    await reconcile(service);
    assert.equal(await service.damages.countDamaged(), 0);
  });

  test('a damaged file that is deleted leaves nothing, neither in the store nor in the quarantine', async () => {
    await using service = await startFilesService();
    const id = await upload(service, { content: 'green tea' });
    await writeFile(await service.pathOf(id), 'GREEN TEA');
    assert.equal((await ask(service, contentOf(id))).status, 503);
    assert.equal((await service.quarantined()).length, 1);
    assert.equal((await ask(service, `/v1/files/${id}`, { method: 'DELETE' })).status, 200);
    assert.deepEqual(await service.onDisk(), { staging: [], blobs: [] });
    assert.deepEqual(await service.quarantined(), []);
    assert.deepEqual(await service.rows('blob'), []);
  });
});

/** Asserts that there is one blob with correct bytes, no damage and no orphan. */
async function assertRepaired(service: FilesService): Promise<void> {
  assert.equal(await service.damages.countDamaged(), 0);
  assert.deepEqual(await service.quarantined(), [], 'the wrong bytes are erased');
  await reconcile(service);
  assert.equal((await service.onDisk()).blobs.length, 1);
  assert.equal((await service.rows('blob')).length, 1);
}

async function reconcile(service: FilesService): Promise<void> {
  const clock = { now: () => Date.now() };
  await reconcileFiles({ ...service, logger: createLogger('silent'), clock, keepQuarantined: 1 });
}
