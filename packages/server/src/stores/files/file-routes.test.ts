import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { purposes } from '@quartermaster/contract';
import { insertCollection, insertRecord } from '../../storage/database/testing/insert-rows.ts';
import { checkStore } from './maintenance/fsck.ts';
import { ask, upload } from './testing/ask.ts';
import { type FilesService, startFilesService } from './testing/files-service.ts';

describe('GET /v1/files', () => {
  let service: FilesService;
  const ids: string[] = [];
  before(async () => {
    service = await startFilesService();
    for (let index = 0; index < 7; index += 1) {
      const qa = index % 3 === 0;
      ids.push(
        await upload(service, {
          content: `${index}`,
          name: qa ? 'a.csv' : 'a.txt',
          purpose: qa ? 'qa_record_file' : index % 3 === 1 ? 'document_file' : 'record_file',
        }),
      );
    }
  });
  after(() => service.stop());

  const list = async (query: string, project = 'projecta') => {
    const answer = await ask(service, `/v1/files${query}`, { project });
    assert.equal(answer.status, 200, answer.text);
    const { data, fetched_count, has_more } = answer.json();
    assert.equal(fetched_count, data.length);
    return { places: data.map((file: { file_id: string }) => ids.indexOf(file.file_id)), has_more };
  };

  test('returns the newest files first, 20 per page', async () => {
    assert.deepEqual(await list(''), { places: [6, 5, 4, 3, 2, 1, 0], has_more: false });
    assert.deepEqual(await list('?order=asc&limit=3'), { places: [0, 1, 2], has_more: true });
  });
  test('returns the page after a cursor', async () => {
    assert.deepEqual(await list(`?limit=3&after=${ids[4]}`), { places: [3, 2, 1], has_more: true });
    assert.deepEqual(await list(`?limit=3&after=${ids[1]}`), { places: [0], has_more: false });
    assert.deepEqual(await list(`?limit=3&order=asc&after=${ids[3]}`), { places: [4, 5, 6], has_more: false });
  });
  test('returns the files of one purpose', async () => {
    assert.deepEqual(await list('?purpose=qa_record_file'), { places: [6, 3, 0], has_more: false });
    assert.deepEqual(await list('?purpose=record_file'), { places: [5, 2], has_more: false });
  });
  test('returns the files from which a collection of a type can have records, whatever their purpose', async () => {
    assert.deepEqual(await list('?collection_type=text'), { places: [5, 4, 2, 1], has_more: false });
    assert.deepEqual(await list('?collection_type=qa'), { places: [6, 3, 0], has_more: false });
    assert.deepEqual(await list('?collection_type=text&purpose=document_file'), { places: [4, 1], has_more: false });
    assert.deepEqual(await list('?collection_type=text&purpose=qa_record_file'), { places: [], has_more: false });
    assert.deepEqual(await list(`?collection_type=text&limit=2&after=${ids[4]}`), { places: [2, 1], has_more: false });
  });
  test('counts the files of all pages, after filters and in the project of the key only', async () => {
    const count = async (query: string, project = 'projecta') => {
      const { total_count, total_count_is_exact } = (
        await ask(service, `/v1/files?limit=1&${query}`, { project })
      ).json();
      return [total_count, total_count_is_exact];
    };
    assert.deepEqual(await count('count=true'), [7, true]);
    assert.deepEqual(await count(`count=true&after=${ids[1]}`), [7, true]);
    assert.deepEqual(await count('count=true&purpose=qa_record_file'), [3, true]);
    assert.deepEqual(await count('count=true&collection_type=text&name=TXT'), [4, true]);
    assert.deepEqual(await count('count=true&collection_type=text&purpose=qa_record_file'), [0, true]);
    assert.deepEqual(await count('count=true', 'projectb'), [0, true]);
    assert.deepEqual(await count('count=false'), [undefined, undefined]);
    assert.equal((await ask(service, '/v1/files?count=1')).status, 422);
  });
  test('a list contains no files of another project, even if the cursor is one of its files', async () => {
    assert.deepEqual(await list('', 'projectb'), { places: [], has_more: false });
    assert.deepEqual(await list(`?after=${ids[0]}`, 'projectb'), { places: [], has_more: false });
  });
  for (const [query, status] of [
    ['?after=nothing', 422],
    [`?before=coll${'0'.repeat(20)}`, 422],
    ['?after=a&before=b', 422],
    ['?limit=0', 422],
    ['?limit=101', 422],
    ['?order=up', 422],
    ['?purpose=assistants', 422],
    ['?collection_type=image', 422],
  ] as const) {
    test(`answers ${query} with ${status}`, async () => {
      assert.equal((await ask(service, `/v1/files${query}`)).status, status);
    });
  }
});

describe('GET /v1/files/{file_id}', () => {
  let service: FilesService;
  let id: string;
  const content = 'ten bytes!';
  before(async () => {
    service = await startFilesService();
    id = await upload(service, { content, name: 'Grüße "1".txt'.replaceAll('"', '%22') });
  });
  after(() => service.stop());

  test('describes the file and lists its records', async () => {
    const { data } = (await ask(service, `/v1/files/${id}`)).json();
    assert.equal(data.file_name, 'Grüße "1".txt');
    assert.deepEqual(data.references, []);
  });

  for (const path of ['', '/content']) {
    test(`answers an unknown file, or one of another project, with 404: ${path || '/'}`, async () => {
      const unknown = `file${'0'.repeat(20)}`;
      for (const [file, project] of [
        [unknown, 'projecta'],
        ['x', 'projecta'],
        [id, 'projectb'],
      ] as const) {
        const answer = await ask(service, `/v1/files/${file}${path}`, { project });
        assert.equal(answer.status, 404);
        assert.equal(answer.json().error.code, 'OBJECT_NOT_FOUND');
      }
    });
  }

  test('returns the content as a download that no browser executes', async () => {
    const { headers, text } = await ask(service, `/v1/files/${id}/content`);
    assert.equal(text, content);
    assert.equal(headers.get('content-type'), 'application/octet-stream');
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.equal(headers.get('content-security-policy'), "sandbox; default-src 'none'; frame-ancestors 'none'");
    assert.equal(
      headers.get('content-disposition'),
      `attachment; filename="Gr__e _1_.txt"; filename*=UTF-8''Gr%C3%BC%C3%9Fe%20%221%22.txt`,
    );
    assert.match(headers.get('etag') ?? '', /^"[0-9a-f]{64}"$/);
    assert.equal(headers.get('content-length'), '10');
  });

  test('answers HEAD with the headers and no bytes', async () => {
    const answer = await ask(service, `/v1/files/${id}/content`, { method: 'HEAD', headers: { Range: 'bytes=0-1' } });
    assert.deepEqual([answer.status, answer.text, answer.headers.get('content-length')], [200, '', '10']);
    const described = await ask(service, `/v1/files/${id}`, { method: 'HEAD' });
    assert.deepEqual([described.status, described.text], [200, '']);
  });

  test('answers a satisfiable range with 206 and others with 416', async () => {
    const part = await ask(service, `/v1/files/${id}/content`, { headers: { Range: 'bytes=4-8' } });
    assert.deepEqual([part.status, part.text, part.headers.get('content-range')], [206, 'bytes', 'bytes 4-8/10']);
    const outside = await ask(service, `/v1/files/${id}/content`, { headers: { Range: 'bytes=10-' } });
    assert.deepEqual([outside.status, outside.headers.get('content-range')], [416, 'bytes */10']);
    assert.equal(outside.json().error.code, 'RANGE_NOT_SATISFIABLE');
  });

  test('answers a matching ETag with 304 and checks ranges with it', async () => {
    const { headers } = await ask(service, `/v1/files/${id}/content`);
    const etag = headers.get('etag') ?? '';
    const same = await ask(service, `/v1/files/${id}/content`, { headers: { 'If-None-Match': etag } });
    assert.deepEqual([same.status, same.text], [304, '']);
    const ranged = (tag: string) =>
      ask(service, `/v1/files/${id}/content`, { headers: { Range: 'bytes=0-0', 'If-Range': tag } });
    assert.equal((await ranged(etag)).status, 206);
    assert.equal((await ranged('"other"')).status, 200);
  });
});

describe('identical content', () => {
  test('concurrent uploads and deletes never leave a file without bytes, nor bytes without a file', async () => {
    const service = await startFilesService();
    for (let round = 0; round < 20; round += 1) {
      const old = await upload(service);
      const results = await Promise.all([
        ask(service, `/v1/files/${old}`, { method: 'DELETE' }),
        upload(service),
        ask(service, `/v1/files/${old}`, { method: 'DELETE' }),
        upload(service),
      ]);
      const deleted = [results[0], results[2]].map((answer) => (typeof answer === 'object' ? answer.status : 0));
      assert.ok(deleted.includes(200), `${deleted}`);
      const report = await checkStore(service.admin, { hash: true });
      assert.deepEqual(report.faults, []);
    }
    assert.equal((await service.onDisk()).blobs.length, 1);
    assert.equal((await service.rows('file')).length, 40);
    await service.stop();
  });
});

describe('DELETE /v1/files/{file_id}', () => {
  test('is refused while a record is being created, and works afterwards', async () => {
    const service = await startFilesService();
    const id = await upload(service);
    await addRecord(service, id, 'creating');
    const busy = await ask(service, `/v1/files/${id}`, { method: 'DELETE' });
    assert.equal(busy.status, 409);
    assert.equal((await ask(service, `/v1/files/${id}/content`)).status, 200);
    const { data } = (await ask(service, `/v1/files/${id}`)).json();
    assert.deepEqual(data.references, [{ collection_id: 'coll', record_id: 'rcrd' }]);
    await service.database.write.updateTable('record').set({ status: 'ready' }).execute();
    assert.equal((await ask(service, `/v1/files/${id}`, { method: 'DELETE' })).status, 200);
    assert.equal((await ask(service, `/v1/files/${id}`, { method: 'DELETE' })).status, 404);
    await service.stop();
  });
});

async function addRecord({ database }: FilesService, fileId: string, status: string): Promise<void> {
  const project = { project_id: 'projecta' };
  await insertCollection(database, { ...project, id: 'coll' });
  await insertRecord(database, 'coll', { ...project, id: 'rcrd', type: 'file', file_id: fileId, status });
}

describe('GET /v1/limits', () => {
  test('returns the upload limits and the remaining quota', async () => {
    const service = await startFilesService({ maxFileBytes: 1000, maxProjectBytes: 5000, maxUploadsInFlight: 3 });
    await upload(service);
    const { data } = (await ask(service, '/v1/limits')).json();
    assert.deepEqual(data, {
      purposes: {
        record_file: { extensions: ['txt', 'pdf', 'docx', 'md', 'html'], max_bytes: 1000 },
        qa_record_file: { extensions: ['csv', 'xlsx'], max_bytes: 1000 },
        document_file: { extensions: [...purposes.document_file.extensions], max_bytes: 1000 },
      },
      rate: { uploads_in_flight: 0, max_uploads_in_flight: 3 },
      quota: { bytes_used: 19, max_bytes: 5000, bytes_left: 4981 },
      limits: [],
    });
    await service.stop();
  });
});
