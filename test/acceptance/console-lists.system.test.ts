import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { findingsInBoth, nothing } from '../support/axe.ts';
import { settledRecord } from '../support/client.ts';
import { type OpenedConsole, openConsole, openPage } from '../support/console.ts';
import { waitForFocus } from '../support/console-keyboard.ts';
import { type EmbeddingService, startEmbeddingService } from '../support/embedding-service.ts';
import { textPdf } from '../support/sample-pdf.ts';

interface Subject {
  readonly opened: OpenedConsole;
  readonly embedding: EmbeddingService;
  readonly collection: string;
}

/** All steps share one service and one browser, because starting them takes longer than the checks. */
test('[console] lists are filtered, counted and changed in bulk', async (t: TestContext) => {
  const embedding = await startEmbeddingService(t, { embed: () => [1, 0] });
  const opened = await openConsole(t, { settings: { EMBEDDING_PROVIDER: 'openai', EMBEDDING_URL: embedding.url } });
  const subject = { opened, embedding, collection: await fillCollection(opened) };
  await t.test('[console] documents are filtered by status and name, processed again and deleted together', () =>
    changeRecords(subject),
  );
  await t.test('[console] files are selected and deleted together, and collections are found by name', () =>
    changeFiles(subject),
  );
  await t.test('[console] a list that is longer than a page shows the number of all items, after filters too', () =>
    countFiles(subject),
  );
  await t.test('[console] the report of a sheet shows how many rows were not imported', () => countRows(subject));
  await t.test('[console] a collection shows the state of its vectors', () => readVectors(subject));
  await t.test('[console] a collection shows why its last embedding failed, until the next one succeeds', () =>
    readLastError(subject),
  );
  await t.test(
    '[console] documents are a table with first pages, sorted by each column, 15 rows in a small window',
    () => readTable(subject),
  );
  await t.test('[console] the overview leads to the failed documents of all collections', () => readJobs(subject));
  assert.deepEqual(opened.pageErrors, []);
});

/** Creates four texts and a page that the service refuses to read, and three files. */
async function fillCollection({ service: { client } }: OpenedConsole): Promise<string> {
  const { collection_id: collection } = await client.collections.create({ name: 'Rules' });
  const sources = ['Lending', 'Hours', 'Fines', 'Otters'].map((title) => ({
    title,
    content: `${title} of the house.`,
  }));
  for (const source of [...sources, { type: 'web', url: 'https://127.0.0.1:9/rules' } as const]) {
    const { record_id: id } = await client.records.create(collection, source);
    await settledRecord(client, collection, id);
  }
  for (const name of ['a.md', 'b.md', 'c.txt'])
    await client.files.upload(new Blob([name]), { purpose: 'record_file', name });
  return collection;
}

async function changeRecords({ opened, collection }: Subject): Promise<void> {
  const { page, service } = opened;
  const records = page.locator('[data-record]');
  const count = (text: string) => page.getByRole('status').filter({ hasText: text }).waitFor();
  await page.goto(`${service.filesUrl}/collections/${collection}`);
  await count('5 items');
  await page.getByLabel('Status').selectOption('Error');
  await count('1 item');
  assert.match(page.url(), /status=error/);
  await page.getByRole('checkbox', { name: 'Select https://127.0.0.1:9/rules' }).press('Space');
  await count('1 item · 1 selected');
  await page.getByRole('button', { name: 'Reprocess' }).press('Enter');
  await page.getByText('Reprocessing 1 document.').waitFor();
  await page.getByLabel('Status').selectOption('All statuses');
  await page.getByLabel('Search by name').fill('hOUR');
  await count('1 item');
  assert.equal(await records.getAttribute('data-record'), 'Hours');
  await page.getByRole('checkbox', { name: 'Select Hours' }).check();
  await count('1 item · 1 selected');
  await page.getByLabel('Search by name').fill('nothing like that');
  await page.getByText('No documents match').waitFor();
  await page.getByLabel('Search by name').fill('');
  await count('5 items');
  assert.equal(await page.getByRole('checkbox', { checked: true }).count(), 0, 'what was hidden is not selected');
  for (const name of ['Lending', 'Fines']) await page.getByRole('checkbox', { name: `Select ${name}` }).check();
  await count('5 items · 2 selected');
  assert.deepEqual(await findingsInBoth(page), nothing);
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete 2 documents?' });
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('2 documents deleted.').waitFor();
  await count('3 items');
  const left = await records.evaluateAll((rows) => rows.map((row) => (row as unknown as Row).dataset.record));
  assert.deepEqual(left.sort(), ['Hours', 'Otters', 'https://127.0.0.1:9/rules']);
  await page.getByLabel('Status').selectOption('Deleted');
  await count('2 items');
  await page.getByText('Removed in 23 hours').first().waitFor();
  assert.deepEqual(await findingsInBoth(page), nothing, 'deleted documents');
  await page.getByRole('button', { name: 'Restore: Fines' }).press('Enter');
  await page.getByText('Restored: 1').waitFor();
  await count('1 item');
  await waitForFocus(page.getByRole('heading', { level: 1 }));
  await page.getByRole('checkbox', { name: 'Select Lending' }).check();
  await page.getByRole('button', { name: 'Restore 1', exact: true }).waitFor();
  const [hit] = await service.client.search(collection, { query_text: 'fines of the house' });
  assert.match(hit?.content ?? '', /Fines/);
  await page.getByLabel('Status').selectOption('All statuses');
  await count('4 items');
}

/** Two of 17 documents have other sizes and numbers of pages than the others. */
async function readTable({ opened }: Subject): Promise<void> {
  const { page, service } = opened;
  const { client } = service;
  const { collection_id: collection } = await client.collections.create({ name: 'Table', description: 'Of reports' });
  const pagesOf = (number: number) =>
    Array.from({ length: number }, (_, index) => [`Page ${index}`, 'otters '.repeat(9)]);
  const files = Array.from({ length: 15 }, (_, index) => [`short ${index + 1}.txt`, Buffer.from('otters')] as const);
  const documents = [...files, ['b.pdf', textPdf(pagesOf(3))], ['a.pdf', textPdf(pagesOf(2))]] as const;
  for (const [name, bytes] of documents) {
    const { file_id } = await client.files.upload(new Blob([new Uint8Array(bytes)]), { purpose: 'record_file', name });
    const { record_id: id } = await client.records.create(collection, { type: 'file', file_id });
    await settledRecord(client, collection, id);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(`${service.filesUrl}/collections/${collection}`);
  const first = page.locator('[data-record]').first();
  const begins = (name: string) => page.locator(`tbody tr:first-child[data-record="${name}"]`).waitFor();
  const sortBy = (name: string) => page.getByRole('columnheader', { name, exact: true }).getByRole('button').click();
  await begins('a.pdf');
  await first.locator('img').waitFor();
  const seen =
    "[...document.querySelectorAll('[data-record]')].filter((row) => row.getBoundingClientRect().bottom <= innerHeight)";
  assert.ok(Number(await page.evaluate(`${seen}.length`)) >= 15, 'rows in a window of 1280 × 800 pixels');
  await sortBy('Name');
  await begins('a.pdf');
  assert.equal(await page.getByRole('columnheader', { name: 'Name' }).getAttribute('aria-sort'), 'ascending');
  await sortBy('Name');
  await begins('short 15.txt');
  await sortBy('Size');
  await begins('b.pdf');
  await sortBy('Pages');
  await begins('b.pdf');
  assert.match(page.url(), /sort=-pages/);
  await sortBy('Pages');
  await page.locator('tbody tr:nth-child(16)[data-record="a.pdf"]').waitFor();
  await sortBy('Added');
  await begins('a.pdf');
  await sortBy('Added');
  await begins('short 1.txt');
  assert.deepEqual(await findingsInBoth(page), nothing, 'the table of documents');
  await first.click();
  await page.getByRole('heading', { level: 1, name: 'short 1.txt' }).waitFor();
  await page.setViewportSize({ width: 1280, height: 900 });
}

async function readJobs({ opened }: Subject): Promise<void> {
  const { page } = opened;
  await openPage(opened, 'Overview');
  await page.getByRole('link', { name: 'Documents that failed, in all projects: 1.' }).click();
  await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
  const failed = page.locator('[data-record="https://127.0.0.1:9/rules"]');
  await failed.locator('[data-status="error"]').waitFor();
  assert.deepEqual(await findingsInBoth(page), nothing, 'failed documents of all collections');
  await page.getByRole('tab', { name: 'Partially ready' }).click();
  await page.locator('[data-record="answers.csv"] [data-status="partial"]').waitFor();
  await failed.waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Answers', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Answers' }).waitFor();
}

/** An element of the page, whose types are not those of Node.js. */
interface Row {
  readonly dataset: { readonly record?: string };
}

async function changeFiles({ opened }: Subject): Promise<void> {
  const { page, service } = opened;
  await openPage(opened, 'Files');
  await page.getByLabel('Search by name').fill('.md');
  await page.getByRole('status').filter({ hasText: '2 items' }).waitFor();
  await page.getByRole('checkbox', { name: 'Select all' }).check();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('dialog', { name: 'Delete 2 files?' }).getByRole('button', { name: 'Delete' }).click();
  await page.getByText('2 files deleted.').waitFor();
  assert.deepEqual(
    (await service.client.files.list()).data.map(({ file_name }) => file_name),
    ['c.txt'],
  );
  await openPage(opened, 'Collections');
  await page.getByLabel('Search by name').fill('rul');
  await page.getByRole('status').filter({ hasText: '1 item' }).waitFor();
  await page.getByLabel('Search by name').fill('rulers');
  await page.getByText('No collections match').waitFor();
}

async function countRows({ opened }: Subject): Promise<void> {
  const { page, service } = opened;
  const { client } = service;
  const { collection_id: collection } = await client.collections.create({ name: 'Answers', type: 'qa' });
  const lines = Array.from({ length: 130 }, (_, row) => `,answer ${row}`);
  const sheet = new Blob([['question,answer', 'When?,At nine.', ...lines].join('\n')]);
  const { file_id } = await client.files.upload(sheet, { purpose: 'qa_record_file', name: 'answers.csv' });
  const { record_id: id } = await client.records.create(collection, { type: 'qa_sheet', file_id });
  await settledRecord(client, collection, id);
  await page.goto(`${service.filesUrl}/collections/${collection}/records/${id}`);
  await page.getByRole('status').filter({ hasText: '130 items' }).waitFor();
}

async function countFiles({ opened }: Subject): Promise<void> {
  const { page, service } = opened;
  const upload = (name: string) => service.client.files.upload(new Blob([name]), { purpose: 'record_file', name });
  for (let number = 0; number < 120; number++) await upload(`${number < 10 ? 'few' : 'many'}${number}.txt`);
  await openPage(opened, 'Files');
  const count = (text: string) => page.getByRole('status').filter({ hasText: text }).waitFor();
  await count('121 items');
  await page.getByLabel('Search by name').fill('MANY');
  await count('110 items');
  await page.getByLabel('Search by name').fill('few');
  await count('10 items');
  // The service counts at most 10,000 files, which no test uploads.
  const counted = /\/v1\/files\?.*count=true/;
  await page.route(counted, async (route) => {
    const response = await route.fetch();
    const json = { ...(await response.json()), total_count: 10_000, total_count_is_exact: false };
    await route.fulfill({ response, json });
  });
  await page.getByLabel('Search by name').fill('');
  await page.reload();
  await count('At least 10,000 items');
  await page.unroute(counted);
}

async function readVectors({ opened: { page, service }, collection }: Subject): Promise<void> {
  await page.goto(`${service.filesUrl}/collections/${collection}`);
  await page.getByText('Vectors · 100%').click();
  const { embedding } = await service.client.collections.get(collection);
  const count = embedding?.num_embedded ?? 0;
  assert.ok(count >= 2, `${count} vectors`);
  await page.getByText(`${count} of ${count} (100%)`).waitFor();
  await page.getByText(/2 dimensions$/).waitFor();
  await page.getByText('Refused by the model').waitFor();
}

async function readLastError({ opened: { page, service }, embedding, collection }: Subject): Promise<void> {
  embedding.setError({ status: 404, message: 'The model was removed <b>today</b>' });
  const added = await service.client.records.create(collection, { content: 'Badgers of the house.' });
  await settledRecord(service.client, collection, added.record_id);
  await page.goto(`${service.filesUrl}/collections/${collection}`);
  const box = page.getByRole('alert').filter({ hasText: 'The last attempt failed' });
  await box.waitFor();
  await box.getByText('status 404 (The model was removed <b>today</b>). Check QUARTERMASTER_EMBEDDING_URL').waitFor();
  await box.getByText(/ · next attempt /).waitFor();
  assert.deepEqual(await findingsInBoth(page), nothing, 'the last error of an embedding');
  embedding.setError(null);
  await box.waitFor({ state: 'detached' });
  await page.getByText('Vectors · 100%').waitFor();
}
