import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { pixelAt, readPng } from '../../../../../../test/support/png.ts';
import { textPdf } from '../../../../../../test/support/sample-pdf.ts';
import type { Database } from '../../../storage/database/database.ts';
import type { PageReaderOptions } from '../../extraction/pages/open-page-reader.ts';
import {
  createTestFiles,
  openTestDatabase,
  openTestPostgres,
  openTestService,
} from '../testing/test-collections.suite.ts';

for (const open of [openTestDatabase, openTestPostgres]) {
  const database = open === openTestDatabase ? 'SQLite' : 'PostgreSQL';
  test(`a hit leads to its boxes and to a picture with the passage marked, in ${database}`, async (t) => {
    const { call, get, chunks, url, chunkId } = await openProject(t, await open(t));
    const { status, body } = await call('GET', `${chunks}/${chunkId}/boxes`);
    assert.equal(status, 200, JSON.stringify(body));
    const [page] = body.data.pages;
    assert.deepEqual([body.data.pages.length, page.page, page.width, page.height], [1, 2, 600, 800]);
    assert.equal(page.boxes.length, 1);
    const [left, top, width, height] = page.boxes[0];
    assert.ok(left > 48 && left < 52 && top > 44 && top < 54 && width > 90 && width < 110 && height < 20);

    const marked = await get(`${url}/pages/2/picture?width=600&chunk_id=${chunkId}`);
    assert.equal(marked.statusCode, 200);
    const { headers } = marked;
    assert.deepEqual(
      ['content-type', 'cache-control', 'x-content-type-options', 'content-security-policy'].map(
        (name) => headers[name],
      ),
      ['image/png', 'private, no-cache', 'nosniff', "sandbox; default-src 'none'; frame-ancestors 'none'"],
    );
    const [x, y] = [Math.round(left + width) - 2, Math.round(top) + 2];
    assert.deepEqual(pixelAt(readPng(marked.rawPayload), x, y), [255, 229, 102, 255]);
    const plain = await get(`${url}/pages/2/picture?width=600`);
    assert.deepEqual(pixelAt(readPng(plain.rawPayload), x, y), [255, 255, 255, 255]);
    // The passage is not on the first page, so nothing is marked there.
    const first = await get(`${url}/pages/1/picture?width=600&chunk_id=${chunkId}`);
    assert.deepEqual(first.rawPayload, (await get(`${url}/pages/1/picture?width=600`)).rawPayload);

    assert.notEqual(plain.headers.etag, marked.headers.etag);
    const again = await get(`${url}/pages/2/picture?width=600&chunk_id=${chunkId}`, String(headers.etag));
    assert.deepEqual([again.statusCode, again.rawPayload.length, again.headers.etag], [304, 0, headers.etag]);
  });

  test(`pages of other projects, records and files do not exist, in ${database}`, async (t) => {
    const project = await openProject(t, await open(t));
    const { call, get, chunks, url, chunkId, files, fileId, records, recordOf, createProject } = project;
    const foreign = createProject();
    for (const path of [`${chunks}/${chunkId}/boxes`, `${url}/pages/1/picture`])
      assert.equal((await foreign.call('GET', path)).status, 404, path);
    const markdown = await recordOf('a.md', '# Foxes\n\nFoxes sleep.');
    const [other] = (await call('GET', `${records}/${markdown}/chunks`)).body.data;
    for (const path of [
      `${url}/pages/3/picture`,
      `${url}/pages/1/picture?chunk_id=${other.chunk_id}`,
      `${url}/pages/1/picture?chunk_id=unknown`,
      `${records}/${markdown}/pages/1/picture`,
      `${chunks}/${other.chunk_id}/boxes`,
    ])
      assert.deepEqual([(await get(path)).statusCode, path], [404, path]);
    for (const query of ['width=99', 'width=2401', 'width=x', 'chunk_id='])
      assert.equal((await get(`${url}/pages/1/picture?${query}`)).statusCode, 422, query);
    assert.equal((await get(`${url}/pages/0/picture`)).statusCode, 422);

    await call('POST', `${chunks}/${chunkId}`, { content: 'Bears sleep in caves.' });
    const changed = await call('GET', `${chunks}/${chunkId}/boxes`);
    assert.deepEqual(changed.body.data.pages[0].boxes, []);
    files.remove(fileId);
    assert.equal((await get(`${url}/pages/1/picture`)).statusCode, 404);
  });
}

test('without the renderer the answer says what to install', async (t) => {
  const { get, url } = await openProject(t, await openTestDatabase(t), { renderer: 'not-installed' });
  const answer = await get(`${url}/pages/1/picture`);
  assert.equal(answer.statusCode, 503);
  const { code, message } = JSON.parse(answer.body).error;
  assert.deepEqual(
    [code, message],
    ['SERVICE_UNAVAILABLE', 'Pages cannot be drawn. Install the npm package not-installed, then retry.'],
  );
});

async function openProject(t: TestContext, database: Database, pageReader: Partial<PageReaderOptions> = {}) {
  const files = createTestFiles();
  const { app, createProject } = await openTestService(t, { database, files, pageReader });
  const project = createProject();
  const { call, projectId } = project;
  const collectionId = await project.collection();
  const chunks = `/v1/collections/${collectionId}/chunks`;
  const records = `/v1/collections/${collectionId}/records`;

  async function recordOf(name: string, bytes: Uint8Array | string): Promise<string> {
    const file_id = files.add(projectId, 'record_file', name, bytes);
    return (await project.record(collectionId, { type: 'file', file_id })).record_id;
  }

  const fileId = files.add(
    projectId,
    'record_file',
    'a.pdf',
    textPdf([['Cats live in houses.'], ['Foxes sleep in dens.']]),
  );
  const body = { type: 'file', file_id: fileId, text_splitter: { type: 'separator', separators: ['\n\n'] } };
  const { record_id: recordId } = await project.record(collectionId, body);
  const [hit] = (await call('POST', `${chunks}/query`, { query_text: 'foxes', top_k: 1 })).body.data;
  const get = (path: string, etag?: string) =>
    app.inject({
      method: 'GET',
      url: path,
      headers: { authorization: `Bearer ${projectId}`, ...(etag === undefined ? {} : { 'if-none-match': etag }) },
    });
  return {
    ...project,
    createProject,
    files,
    fileId,
    chunks,
    records,
    recordOf,
    url: `${records}/${recordId}`,
    chunkId: hit.chunk_id,
    get,
  };
}
