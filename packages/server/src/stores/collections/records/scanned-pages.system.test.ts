import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { pixelAt, readPng } from '../../../../../../test/support/png.ts';
import { createAdmission } from '../../../platform/admission/admission.ts';
import { until } from '../../../platform/testing/until.ts';
import type { Database } from '../../../storage/database/database.ts';
import { pdfOf } from '../../extraction/formats/testing/documents.fixture.ts';
import { drawPages, scannedPdf } from '../../extraction/formats/testing/scanned-pdf.fixture.ts';
import { openTestOcr } from '../../extraction/ocr/testing/ocr.fixture.ts';
import { openExtractor } from '../../extraction/worker/open-extractor.ts';
import {
  createTestFiles,
  openTestDatabase,
  openTestPostgres,
  openTestService,
  silent,
} from '../testing/test-collections.suite.ts';

const sentence = 'Otters may borrow ten books for four weeks.';
/** A page of 600 × 800 points. The sentence begins 60 points from its left edge, and its baseline is 300 points from its top. */
const typeset = pdfOf([
  [
    { x: 60, y: 740, text: 'The rules of the library of the town', size: 12 },
    { x: 60, y: 500, text: sentence, size: 12 },
  ],
]);

for (const open of [openTestDatabase, openTestPostgres]) {
  const database = open === openTestDatabase ? 'SQLite' : 'PostgreSQL';
  test(`a passage of a scanned page leads to its boxes and to a picture with it marked, in ${database}`, async (t) => {
    const { call, get, chunks, records, recordOf } = await openProject(t, await open(t));
    const recordId = await recordOf('scan.pdf', await scan());
    const [hit] = (await call('POST', `${chunks}/query`, { query_text: 'otters', top_k: 1 })).body.data;
    assert.equal('boxes' in hit, false);
    const { status, body } = await call('GET', `${chunks}/${hit.chunk_id}/boxes`);
    assert.equal(status, 200, JSON.stringify(body));
    const [page, ...others] = body.data.pages;
    assert.deepEqual(
      [others.length, page.page, page.width, Math.round(page.height), page.boxes.length],
      [0, 1, 600, 800, 2],
    );
    assertAround(page.boxes[1]);

    const picture = `${records}/${recordId}/pages/1/picture?width=600`;
    const [marked, plain] = [await get(`${picture}&chunk_id=${hit.chunk_id}`), await get(picture)];
    const pixels = [marked, plain].map((answer) =>
      pixelAt(readPng(answer.rawPayload), ...aboveStop(page.boxes[1])).slice(0, 3),
    );
    assert.deepEqual(pixels, [
      [255, 229, 102],
      [255, 255, 255],
    ]);
    assert.notEqual(marked.headers.etag, plain.headers.etag);

    // A text that a caller has written is nowhere on the page.
    await call('POST', `${chunks}/${hit.chunk_id}`, { content: 'Bears sleep in caves.' });
    assert.deepEqual((await call('GET', `${chunks}/${hit.chunk_id}/boxes`)).body.data.pages[0].boxes, []);
  });

  test(`records that were read without boxes get them when they are read again, in ${database}`, async (t) => {
    const opened = await open(t);
    const { call, chunks, records, recordOf, collection, settled } = await openProject(t, opened);
    const recordId = await recordOf('scan.pdf', await scan());
    const boxesOf = async () => {
      const [chunk] = (await call('GET', `${records}/${recordId}/chunks`)).body.data;
      return (await call('GET', `${chunks}/${chunk.chunk_id}/boxes`)).body.data.pages[0].boxes;
    };
    const before = await boxesOf();
    const forget = () => opened.write.updateTable('chunk').set({ scan_boxes: null }).execute();
    await forget();
    assert.deepEqual(await boxesOf(), []);
    const { content } = (await call('GET', `${records}/${recordId}`)).body.data;
    await call('POST', `${records}/${recordId}`, { type: 'file', file_id: JSON.parse(content).file_id });
    await settled(recordId);
    assert.deepEqual(await boxesOf(), before);

    // Re-chunking keeps chunks that are equal. These are not, because they have no boxes.
    await forget();
    await call('POST', collection, { chunking: { chunk_size: 200 } });
    await until(async () => (await call('GET', collection)).body.data.rechunking.num_pending_records === 0);
    await settled(recordId);
    assert.deepEqual(await boxesOf(), before);
  });
}

test('a passage of a picture leads to its boxes and to its page', async (t) => {
  const { call, get, chunks, records, recordOf } = await openProject(t, await openTestDatabase(t));
  const [drawn] = await drawPages(typeset, [1], 300);
  assert.ok(drawn !== undefined);
  const recordId = await recordOf('scan.tiff', tiffOf(drawn));
  const [chunk] = (await call('GET', `${records}/${recordId}/chunks`)).body.data;
  const [page] = (await call('GET', `${chunks}/${chunk.chunk_id}/boxes`)).body.data.pages;
  assert.deepEqual([page.page, Math.round(page.width), Math.round(page.height)], [1, 600, 800]);
  assertAround(page.boxes[1]);
  const marked = await get(`${records}/${recordId}/pages/1/picture?width=600&chunk_id=${chunk.chunk_id}`);
  assert.deepEqual(pixelAt(readPng(marked.rawPayload), ...aboveStop(page.boxes[1])).slice(0, 3), [255, 229, 102]);
  assert.equal((await get(`${records}/${recordId}/pages/2/picture`)).statusCode, 404);
});

/** Asserts that a box is around the sentence, which is about 234 points wide in Helvetica of 12 points. */
function assertAround([left, top, width, height]: readonly [number, number, number, number]): void {
  const found = JSON.stringify([left, top, width, height]);
  assert.ok(Math.abs(left - 60) < 3 && width > 220 && width < 250, found);
  assert.ok(top > 286 && top < 296 && top + height > 298 && top + height < 307, found);
}

/** A point in the box above the full stop, where the page is white. */
function aboveStop([left, top, width]: readonly [number, number, number, number]): [number, number] {
  return [Math.round(left + width) - 2, Math.round(top) + 3];
}

async function scan(): Promise<Buffer> {
  return scannedPdf((await drawPages(typeset, [1], 300)).map((picture) => ({ picture })));
}

/** A TIFF of one strip without compression, with its resolution. Source: TIFF 6.0. */
function tiffOf({ width, height, dpi, gray }: Awaited<ReturnType<typeof drawPages>>[number]): Buffer {
  const start = 200;
  const entries: ReadonlyArray<readonly [tag: number, type: number, value: number]> = [
    [256, 4, width],
    [257, 4, height],
    [258, 3, 8],
    [259, 3, 1],
    [262, 3, 1],
    [273, 4, start],
    [278, 4, height],
    [279, 4, gray.length],
    [282, 5, 160],
    [283, 5, 160],
    [296, 3, 2],
  ];
  const head = Buffer.alloc(start);
  head.write('II*\0', 'latin1');
  head.writeUInt32LE(8, 4);
  head.writeUInt16LE(entries.length, 8);
  for (const [index, [tag, type, value]] of entries.entries()) {
    const at = 10 + index * 12;
    head.writeUInt16LE(tag, at);
    head.writeUInt16LE(type, at + 2);
    head.writeUInt32LE(1, at + 4);
    head.writeUInt32LE(value, at + 8);
  }
  head.writeUInt32LE(dpi, 160);
  head.writeUInt32LE(1, 164);
  return Buffer.concat([head, gray]);
}

async function openProject(t: TestContext, database: Database) {
  const files = createTestFiles();
  const extractor = openExtractor({
    admission: createAdmission(),
    processes: 1,
    logger: silent,
    ocr: () => openTestOcr(),
  });
  const { app, createProject } = await openTestService(t, { database, files, extractor });
  const project = createProject();
  const { call, projectId } = project;
  const collectionId = await project.collection();
  const collection = `/v1/collections/${collectionId}`;
  const recordOf = async (name: string, bytes: Uint8Array): Promise<string> => {
    const file_id = files.add(projectId, 'document_file', name, bytes);
    const record = await project.record(collectionId, { type: 'file', file_id });
    assert.equal(record.status, 'ready', JSON.stringify(record));
    return record.record_id;
  };
  const get = (url: string) => app.inject({ method: 'GET', url, headers: { authorization: `Bearer ${projectId}` } });
  const settled = (recordId: string) => project.settled(collectionId, recordId);
  return { call, get, collection, recordOf, settled, chunks: `${collection}/chunks`, records: `${collection}/records` };
}
