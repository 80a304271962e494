import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { workbook } from '../../../../../../test/support/sample-office.ts';
import { textPdf } from '../../../../../../test/support/sample-pdf.ts';
import type { Database } from '../../../storage/database/database.ts';
import {
  createTestFiles,
  openTestDatabase,
  openTestPostgres,
  openTestService,
} from '../testing/test-collections.suite.ts';

for (const open of [openTestDatabase, openTestPostgres]) {
  const database = open === openTestDatabase ? 'SQLite' : 'PostgreSQL';
  test(`a hit and a chunk name the record, its file and their place, in ${database}`, async (t) => {
    const { call, collection, record, files, projectId } = await openProject(t, open);
    const collectionId = await collection();
    const url = `/v1/collections/${collectionId}/chunks`;
    const fileId = files.add(projectId, 'record_file', 'fox.pdf', textPdf([['Foxes sleep in dens.']]));
    const read = await record(collectionId, { type: 'file', file_id: fileId, title: 'Foxes' });
    await record(collectionId, { content: 'Bears sleep in winter.' });
    await call('POST', url, { content: 'Nobody sleeps here.' });
    const hits = (await call('POST', `${url}/query`, { query_text: 'who sleeps?', top_k: 9 })).body.data;
    assert.equal(hits.length, 3);
    assert.deepEqual(
      new Map(hits.map((hit: Named) => [hit.title, [hit.file_id, hit.file_name, hit.url, hit.locator?.page]])),
      new Map([
        ['Foxes', [fileId, 'fox.pdf', null, 1]],
        ['', [null, null, null, undefined]],
        [null, [null, null, null, undefined]],
      ]),
    );
    const hit = hits.find((each: Named) => each.title === 'Foxes');
    const { score, ...chunk } = hit;
    assert.ok(score > 0);
    assert.deepEqual((await call('GET', `${url}/${hit.chunk_id}`)).body.data, chunk);
    assert.deepEqual((await call('GET', `${url}?limit=3`)).body.data.at(-1), chunk);
    const ofRecord = `/v1/collections/${collectionId}/records/${read.record_id}/chunks`;
    assert.deepEqual((await call('GET', ofRecord)).body.data, [chunk]);
    const changed = await call('POST', `${url}/${hit.chunk_id}`, { metadata: { a: 1 } });
    assert.deepEqual([changed.body.data.title, changed.body.data.file_name], ['Foxes', 'fox.pdf']);
  });

  test(`a hit of a sheet names the cells of question and answer, in ${database}`, async (t) => {
    const { call, collection, record, files, projectId } = await openProject(t, open);
    const collectionId = await collection({ type: 'qa' });
    const rows = [
      ['Answer', 'Note', 'Question'],
      ['In a den.', 'seen', 'Where do foxes sleep?'],
    ];
    for (const [name, bytes] of [
      ['a.xlsx', workbook([{ name: 'Animals', rows }])],
      // Equal pairs would be one hit.
      ['a.csv', rows.map((row) => row.join(',').replace('den.', 'hole.')).join('\n')],
    ] as const)
      await record(collectionId, { type: 'qa_sheet', file_id: files.add(projectId, 'qa_record_file', name, bytes) });
    const url = `/v1/collections/${collectionId}/chunks/query`;
    const hits = (await call('POST', url, { query_text: 'Where do foxes sleep?' })).body.data;
    assert.deepEqual(
      new Map(hits.map((hit: Named) => [hit.file_name, hit.locator])),
      new Map([
        ['a.xlsx', { sheet: 'Animals', row: 2, cells: ['C2', 'A2'] }],
        ['a.csv', { row: 2, cells: ['C2', 'A2'] }],
      ]),
    );
  });
}

interface Named {
  readonly title: string | null;
  readonly file_id: string | null;
  readonly file_name: string | null;
  readonly url: string | null;
  readonly locator: { readonly page?: number } | null;
}

async function openProject(t: TestContext, open: (t: TestContext) => Promise<Database>) {
  const files = createTestFiles();
  const service = await openTestService(t, { database: await open(t), files });
  return { ...service.createProject(), files };
}
