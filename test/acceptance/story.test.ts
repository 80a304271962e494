import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settledRecord } from '../support/client.ts';
import { serve } from '../support/http.ts';
import { handbook } from '../support/sample-handbook.ts';
import { type Ending, type StartedService, share, startService } from '../support/service.ts';

const shared = share(async (t) => {
  const upstream = await serveExchangeRates(t);
  const EGRESS_OVERRIDES = JSON.stringify({ 'https://v6.exchangerate-api.com': upstream.url });
  return { upstream, ...(await startService(t, { settings: { EGRESS_OVERRIDES } })) };
});

test('[story] a PDF is uploaded and becomes a record, and a question finds the passage with its page', async () => {
  const { client } = await shared();
  const file = await client.files.upload(new Blob([new Uint8Array(handbook[0]?.bytes ?? [])]), {
    purpose: 'record_file',
    name: 'guide.pdf',
  });
  const collection = await client.collections.create({ name: 'guides' });
  const record = await client.records.create(collection.collection_id, { type: 'file', file_id: file.file_id });
  assert.equal(record.status, 'creating');
  const settled = await settledRecord(client, collection.collection_id, record.record_id);
  assert.equal(settled.status, 'ready', JSON.stringify(settled.error));
  assert.ok(settled.num_chunks > 0);
  const question = await someWords(client, collection.collection_id, record.record_id);
  const [best] = await client.search(collection.collection_id, { query_text: question, top_k: 1 });
  assert.ok(best);
  assert.equal(best.record_id, record.record_id);
  assert.ok(best.score > 0 && best.score <= 1);
  assert.ok((best.locator?.page ?? 0) >= 1, 'a passage of a PDF says its page');
});

test('[story] a question finds its answer in a question–answer sheet', async () => {
  const { client } = await shared();
  const file = await client.files.upload(
    new Blob(['question,answer\n"May I bring a dog?","Yes, on a leash."\nIs there parking?,Behind the house.\n']),
    { purpose: 'qa_record_file', name: 'Q&A.csv' },
  );
  const collection = await client.collections.create({ name: 'faq', type: 'qa' });
  const record = await client.records.create(collection.collection_id, { type: 'qa_sheet', file_id: file.file_id });
  const settled = await settledRecord(client, collection.collection_id, record.record_id);
  assert.deepEqual([settled.status, settled.num_chunks], ['ready', 2]);
  const [best] = await client.search(collection.collection_id, { query_text: 'dog on a leash?', top_k: 1 });
  assert.deepEqual([best?.question, best?.answer], ['May I bring a dog?', 'Yes, on a leash.']);
});

test('[story] bundles and plugins are listed, a plugin computes, another calls a third party with a credential', async () => {
  const { client, log, upstream } = await shared();
  const bundles = await client.bundles.list();
  for (const id of ['arithmetic', 'calculator', 'exchangerate_api', 'open_weather']) {
    assert.ok(
      bundles.some((bundle) => bundle.bundle_id === id),
      id,
    );
  }
  const plugins = await client.plugins.list({ bundle_id: 'calculator' });
  assert.deepEqual(
    plugins.map((plugin) => plugin.plugin_id),
    ['evaluate'],
  );
  const sum = await client.plugins.run('arithmetic/add', { number_1: 1, number_2: 2 });
  assert.deepEqual([sum.status, sum.data], [200, { result: 3 }]);

  const secret = 'canary-7f3a9c51d2';
  const rate = await client.plugins.run(
    'exchangerate_api/get_exchange_rate',
    { from_currency: 'USD', to_currency: 'CNY' },
    { credentials: { EXCHANGERATE_API_API_KEY: secret } },
  );
  assert.equal((rate.data as { rate: number }).rate, 7.1);
  assert.deepEqual(upstream.paths, [`/v6/${secret}/pair/USD/CNY`]);
  assert.ok(!JSON.stringify(rate).includes(secret) && !log().includes(secret));
});

test('[rows] the corrected report of refused rows completes the import, however often it is uploaded', async () => {
  const { client, filesUrl, key } = await shared();
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

/** Returns twelve words from the middle of the record's longest chunk: a question whose answer is known. */
async function someWords(client: StartedService['client'], collectionId: string, recordId: string): Promise<string> {
  const chunks = (await client.records.chunks(collectionId, recordId)).data;
  const longest = chunks.reduce((a, b) => (b.content.length > a.content.length ? b : a));
  const words = longest.content.split(/\s+/);
  return words.slice(Math.floor(words.length / 2), Math.floor(words.length / 2) + 12).join(' ');
}

/** Starts the third party, which answers as in https://www.exchangerate-api.com/docs/pair-conversion-requests. */
async function serveExchangeRates(t: Ending): Promise<{ url: string; paths: string[] }> {
  const paths: string[] = [];
  const origin = await serve(t, (request, response) => {
    paths.push(request.url ?? '');
    response.setHeader('Content-Type', 'application/json');
    response.end(
      JSON.stringify({
        result: 'success',
        documentation: 'https://www.exchangerate-api.com/docs',
        terms_of_use: 'https://www.exchangerate-api.com/terms',
        time_last_update_unix: 1585267200,
        time_last_update_utc: 'Fri, 27 Mar 2020 00:00:00 +0000',
        time_next_update_unix: 1585353700,
        time_next_update_utc: 'Sat, 28 Mar 2020 00:00:00 +0000',
        base_code: 'USD',
        target_code: 'CNY',
        conversion_rate: 7.1,
      }),
    );
  });
  return { url: origin, paths };
}
