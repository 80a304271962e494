import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { type FilesService, startFilesService } from './files-service.ts';
import { formBody, head } from './form.ts';

describe('POST /v1/files', () => {
  let service: FilesService;
  before(async () => {
    service = await startFilesService();
  });
  after(() => service.stop());

  test('answers with the file that was kept', async () => {
    const content = 'some text\n';
    const body = formBody({ content, name: 'Überblick.TXT' });
    const answer = await service.send([head(body), body]);
    assert.equal(answer.status, 200);
    const sha256 = createHash('sha256').update(content).digest('hex');
    const { file_id, created_timestamp, ...data } = answer.json?.data ?? {};
    assert.match(String(file_id), /^file[a-z0-9]{20}$/);
    assert.ok(Number.isInteger(created_timestamp));
    assert.deepEqual(data, { file_name: 'Überblick.TXT', purpose: 'record_file', bytes: 10, sha256 });
  });

  for (const size of [0, 1, 8192, 307_200, 524_288, 5 * 1024 * 1024 + 7]) {
    for (const order of ['file first', 'purpose first'] as const) {
      test(`${size} bytes, ${order}, come back as they were sent`, async () => {
        const content = Buffer.from(
          randomBytes(size)
            .toString('latin1')
            .replace(/[^ -~]/g, '-'),
          'latin1',
        );
        const body = formBody({ content, order });
        const answer = await service.send([head(body), body]);
        assert.equal(answer.status, 200);
        const got = await fetch(`${service.url}/v1/files/${answer.json?.data.file_id}/content`, {
          headers: { Authorization: 'Bearer projecta' },
        });
        assert.ok(content.equals(Buffer.from(await got.arrayBuffer())));
      });
    }
  }
});
