import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startFilesService } from './testing/files-service.ts';
import { type Form, formBody, type Head, head } from './testing/form.ts';

type Service = Awaited<ReturnType<typeof startFilesService>>;
const upload = (service: Service, form: Form, options: Head = {}) => {
  const body = formBody(form);
  return service.send([head(body, options), body]);
};

describe('Idempotency-Key on POST /v1/files', () => {
  test('the same key and content return the same response, also after a restart, and one file is stored', async () => {
    await using before = await startFilesService();
    const first = await upload(before, { content: 'x'.repeat(700_000) }, { key: 'one key' });
    assert.equal(first.status, 200);
    const second = await upload(before, { content: 'x'.repeat(700_000), order: 'purpose first' }, { key: 'one key' });
    assert.deepEqual(second.body, first.body);
    await before.stop('keep');
    await using service = await startFilesService({ folder: before.folder });
    const third = await upload(service, { content: 'x'.repeat(700_000) }, { key: 'one key' });
    assert.deepEqual(third.body, first.body);
    assert.equal((await service.rows('file')).length, 1);
    assert.deepEqual((await service.onDisk()).staging, []);
  });

  test('the same key with other content, name or purpose is refused', async () => {
    await using service = await startFilesService();
    await upload(service, { content: 'a' }, { key: 'key' });
    for (const form of [
      { content: 'b' },
      { content: 'a', name: 'b.txt' },
      { content: 'a', purpose: 'document_file' },
      { content: 'a', name: 'a.csv', purpose: 'qa_record_file' },
    ]) {
      const answer = await upload(service, form, { key: 'key' });
      assert.equal(answer.status, 422);
      assert.match(answer.json?.error.message ?? '', /idempotency-key must be a new key/);
    }
    assert.equal((await service.rows('file')).length, 1);
  });

  test('another API key of the project with the same Idempotency-Key stores a file of its own', async () => {
    await using service = await startFilesService();
    const ids: string[] = [];
    for (const project of ['projecta.one', 'projecta.two', 'projecta.one']) {
      const answer = await upload(service, { content: 'a' }, { key: 'key', project });
      ids.push(String(answer.json?.data.file_id));
    }
    const other = await upload(service, { content: 'b' }, { key: 'key', project: 'projecta.three' });
    assert.equal(other.status, 200, 'other content of another caller is no reuse');
    assert.equal(ids[0], ids[2]);
    assert.notEqual(ids[0], ids[1]);
    assert.equal((await service.rows('file')).length, 3);
  });

  test('one of twenty concurrent requests has an effect; the others get its response or are asked to retry', async () => {
    await using service = await startFilesService();
    for (let round = 0; round < 5; round += 1) {
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => upload(service, { content: `round ${round}` }, { key: `race ${round}` })),
      );
      const good = answers.filter((answer) => answer.status === 200);
      assert.ok(good.length >= 1);
      assert.equal(new Set(good.map((answer) => answer.json?.data.file_id)).size, 1);
      for (const answer of answers) assert.ok(answer.status === 200 || answer.status === 409, `${answer.status}`);
    }
    assert.equal((await service.rows('file')).length, 5);
    assert.equal((await service.onDisk()).blobs.length, 5);
  });

  test('a refused upload leaves its key unused', async () => {
    await using service = await startFilesService();
    assert.equal((await upload(service, { name: 'a.exe' }, { key: 'key' })).status, 422);
    assert.equal((await upload(service, { name: 'a.txt' }, { key: 'key' })).status, 200);
  });

  test('the claim of a crashed process blocks its key only until its lease ends', async () => {
    await using service = await startFilesService();
    const claim = { project_id: 'projecta', caller_id: 'key', operation: 'upload', fingerprint: null, answer: null };
    await service.database.write
      .insertInto('idempotency')
      .values([
        { ...claim, key: 'over', created_at: 1, expires_at: Date.now() - 1 },
        { ...claim, key: 'held', created_at: 1, expires_at: Date.now() + 60_000 },
      ])
      .execute();
    assert.equal((await upload(service, {}, { key: 'held' })).status, 409);
    assert.equal((await upload(service, {}, { key: 'over' })).status, 200);
  });
});
