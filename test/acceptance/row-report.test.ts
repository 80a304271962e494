import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settledRecord } from '../support/client.ts';
import { startService } from '../support/service.ts';

test('[rows] the corrected report of refused rows completes the import, however often it is uploaded', async (t) => {
  const { client, filesUrl, key } = await startService(t);
  const { collection_id: collectionId } = await client.collections.create({ name: 'faq', type: 'qa' });

  async function importSheet(name: string, content: string) {
    const file = await client.files.upload(new Blob([content]), { purpose: 'qa_record_file', name });
    const body = { type: 'qa_sheet', file_id: file.file_id, on_duplicate: 'skip' } as const;
    const record = await client.records.create(collectionId, body);
    return settledRecord(client, collectionId, record.record_id);
  }
  async function questions(): Promise<unknown[]> {
    const url = `${filesUrl}/v1/collections/${collectionId}/chunks?order=asc&limit=100`;
    const answer = await fetch(url, { headers: { Authorization: `Bearer ${key}` } });
    const { data } = (await answer.json()) as { data: Array<{ question: string; answer: string }> };
    return data.map(({ question, answer }) => [question, answer]);
  }

  const sheet = '常见问题;;\n问题;答案;标签\n营业时间？;九点到五点;时间\n停车？;;地点\n=1+1?;;算\n';
  const first = await importSheet('faq.csv', sheet);
  assert.equal(first.status, 'partial', JSON.stringify(first.error));
  assert.deepEqual(first.report?.rows, { total: 3, accepted: 1, rejected: 2, duplicate: 0 });

  const refused = await client.records.rows(collectionId, first.record_id, { order: 'asc' });
  assert.deepEqual(
    refused.data.map(({ row, column, code }) => [row, column, code]),
    [
      [4, 'B', 'empty_answer'],
      [5, 'B', 'empty_answer'],
    ],
  );
  const answer = await client.records.rowSheet(collectionId, first.record_id);
  const report = Buffer.from(await answer.arrayBuffer()).toString();
  assert.match(report, /\r\n'=1\+1\?,,算,/);

  const corrected = report.replace('停车？,,', '停车？,屋后,').replace("'=1+1?,,", "'=1+1?,2,");
  const complete = [
    ['营业时间？', '九点到五点'],
    ['停车？', '屋后'],
    ['=1+1?', '2'],
  ];
  assert.equal((await importSheet('corrected.csv', corrected)).status, 'ready');
  assert.deepEqual(await questions(), complete);
  // A dry run of the same sheet reports no new rows and stores nothing.
  const file = await client.files.upload(new Blob([corrected]), { purpose: 'qa_record_file', name: 'corrected.csv' });
  const body = { type: 'qa_sheet', file_id: file.file_id, on_duplicate: 'skip' } as const;
  const preview = await client.records.preview(collectionId, body);
  assert.deepEqual(
    [preview.num_chunks, preview.rows.map(({ code }) => code)],
    [0, Array(2).fill('duplicate_in_collection')],
  );
  const again = await importSheet('corrected.csv', corrected);
  assert.deepEqual([again.status, again.num_chunks], ['ready', 0]);
  assert.deepEqual(await questions(), complete);
  // A finished record cannot be cancelled. Created again from the same sheet, it has the same contents.
  assert.equal((await client.records.cancel(collectionId, first.record_id)).status, 'partial');
  assert.equal((await client.records.retry(collectionId, first.record_id)).status, 'creating');
  assert.equal((await settledRecord(client, collectionId, first.record_id)).status, 'partial');
  assert.deepEqual((await questions()).toSorted(), complete.toSorted());
});
