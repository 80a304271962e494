import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { type FilesService, startFilesService } from './testing/files-service.ts';
import { boundary, formBody, head } from './testing/form.ts';
import { readAnswer } from './testing/raw-answer.ts';

describe('POST /v1/files', () => {
  let service: FilesService;
  before(async () => {
    service = await startFilesService();
  });
  after(() => service.stop());

  test('returns the stored file', async () => {
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
      test(`returns ${size} bytes, ${order}, as they were uploaded`, async () => {
        const content = Buffer.from(
          randomBytes(size)
            .toString('latin1')
            .replace(/[^ -~]/g, '-'),
          'latin1',
        );
        const body = formBody({ content, order });
        const answer = await service.send([head(body), body]);
        assert.equal(answer.status, 200);
        const download = await fetch(`${service.url}/v1/files/${answer.json?.data.file_id}/content`, {
          headers: { Authorization: 'Bearer projecta' },
        });
        assert.ok(content.equals(Buffer.from(await download.arrayBuffer())));
      });
    }
  }

  test('answers Expect: 100-continue only after it has accepted the headers', async () => {
    const body = formBody();
    const good = service.connect();
    good.write(head(body, { more: ['Expect: 100-continue'] }));
    const [first] = await once(good, 'data');
    assert.match(String(first), /^HTTP\/1.1 100 Continue\r\n/);
    const answer = readAnswer(good);
    good.write(body);
    assert.equal((await answer).status, 200);
    good.destroy();
    for (const [options, status] of [
      [{ contentType: 'text/plain' }, 415],
      [{ length: 10 * 1024 ** 3 }, 413],
      [{ key: '' }, 422],
    ] as const) {
      const bad = service.connect();
      bad.write(head(body, { ...options, more: ['Expect: 100-continue'] }));
      const [text] = await once(bad, 'data');
      assert.match(String(text), new RegExp(`^HTTP/1.1 ${status} `));
      bad.destroy();
    }
  });

  test('keeps the connection open after a refusal when the body has arrived', async () => {
    const socket = service.connect();
    const bad = formBody({ name: 'a.exe' });
    socket.write(Buffer.concat([Buffer.from(head(bad)), bad]));
    assert.equal((await readAnswer(socket)).status, 422);
    const good = formBody();
    socket.write(Buffer.concat([Buffer.from(head(good)), good]));
    assert.equal((await readAnswer(socket)).status, 200);
    socket.destroy();
  });

  test('ignores other fields, which some existing clients send', async () => {
    const more = ['module', 'file_name', '_charset_', ''].map(
      (name) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\nretrieval\r\n`,
    );
    const body = Buffer.concat([Buffer.from(more.join('')), formBody()]);
    assert.equal((await service.send([head(body), body])).status, 200);
  });

  test('accepts a name with any characters but control and direction characters, and returns it unchanged', async () => {
    for (const name of `../../etc/x/ü.txt | 😀 "quoted" \u200f.txt | 日本語.TXT | ${'x'.repeat(251)}.txt | %s;rm -rf.txt`.split(
      ' | ',
    )) {
      const body = formBody({ name: name.replaceAll('"', '%22') });
      const answer = await service.send([head(body), body]);
      assert.equal(answer.status, 200, answer.body.toString());
      assert.equal(answer.json?.data.file_name, name.slice(name.lastIndexOf('/') + 1));
    }
  });
});
