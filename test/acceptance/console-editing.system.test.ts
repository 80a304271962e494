import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { findingsInBoth, nothing } from '../support/axe.ts';
import { settledRecord } from '../support/client.ts';
import { type OpenedConsole, openConsole, openPage } from '../support/console.ts';
import { tabTo } from '../support/console-keyboard.ts';

/** All steps share one service and one browser, because starting them takes longer than the checks. */
test('[console] people try an example, and correct passages, pairs and rows', async (t: TestContext) => {
  const opened = await openConsole(t);
  await t.test('[console] one click creates a collection that answers the question it suggests', () =>
    createExample(opened),
  );
  await t.test('[console] a passage is edited by keyboard, and search finds the new text at once', () =>
    editPassage(opened),
  );
  await t.test('[console] the documents of one type are listed', () => filterTypes(opened));
  await t.test('[console] the question and the answer of a pair are edited where they stand', () => editPair(opened));
  await t.test('[console] corrected rows are linked with their sheet, which is then no longer partly ready', () =>
    correctRows(opened),
  );
  await t.test('[console] the guide to a page opens in another tab', () => openGuide(opened));
  assert.deepEqual(opened.pageErrors, []);
});

async function createExample(opened: OpenedConsole): Promise<void> {
  const { page, service } = opened;
  await openPage(opened, 'Collections');
  await page.getByRole('button', { name: 'Create an example collection' }).click();
  await page.getByRole('heading', { level: 1, name: 'Example: a library' }).waitFor();
  await page.getByText('How long may I keep a book?').waitFor();
  await page.locator('[data-record="Lending"] [data-status="ready"]').waitFor();
  await page.getByRole('tab', { name: 'Search' }).click();
  await page.getByLabel('Search this collection').fill('How long may I keep a book?');
  await page.keyboard.press('Enter');
  await page.getByText('Books may be kept for four weeks').first().waitFor();
  const { data } = await service.client.collections.list();
  assert.deepEqual(
    data.map(({ num_records }) => num_records),
    [5],
  );
}

async function editPassage({ page, service }: OpenedConsole): Promise<void> {
  const [collection] = (await service.client.collections.list()).data;
  const id = collection?.collection_id ?? '';
  await page.goto(`${service.filesUrl}/collections/${id}`);
  await page.getByRole('link', { name: 'Opening hours' }).click();
  await page.getByRole('heading', { level: 1, name: 'Opening hours' }).focus();
  const edit = page.getByRole('button', { name: /^Edit passage: Opening hours/ });
  await tabTo(page, edit);
  await page.keyboard.press('Enter');
  const text = page.getByLabel('Text of the passage');
  assert.match(await text.inputValue(), /The library is open from nine/);
  assert.equal(await page.getByRole('button', { name: 'Save' }).isDisabled(), true, 'nothing was changed');
  assert.deepEqual(await findingsInBoth(page), nothing);
  await text.fill('The library is open from noon to midnight, for owls.');
  await tabTo(page, page.getByRole('button', { name: 'Save' }));
  await page.keyboard.press('Enter');
  await page.locator('li', { hasText: 'from noon to midnight, for owls.' }).waitFor();
  await text.waitFor({ state: 'detached' });
  const [hit] = await service.client.search(id, { query_text: 'owls' });
  assert.equal(hit?.content, 'The library is open from noon to midnight, for owls.');
}

async function filterTypes({ page, service }: OpenedConsole): Promise<void> {
  const [collection] = (await service.client.collections.list()).data;
  const id = collection?.collection_id ?? '';
  for (const name of ['rules.md', 'notes.TXT']) {
    const { file_id } = await service.client.files.upload(new Blob(['Otters.']), { purpose: 'record_file', name });
    await service.client.records.create(id, { type: 'file', file_id });
  }
  await page.goto(`${service.filesUrl}/collections/${id}`);
  const count = (text: string) => page.getByRole('status').filter({ hasText: text }).waitFor();
  await count('7 items');
  const type = page.getByLabel('Type', { exact: true });
  await type.selectOption('TXT');
  await count('1 item');
  assert.equal(await page.locator('[data-record]').getAttribute('data-record'), 'notes.TXT');
  assert.match(page.url(), /type=txt/);
  await page.reload();
  await count('1 item');
  await type.selectOption('Text');
  await count('5 items');
  await type.selectOption('Web page');
  await page.getByText('No documents match').waitFor();
}

const sheet = 'question,answer\nWhen do you open?,At nine.\nWho may borrow?,\nWhat does a card cost?,Twelve euros.\n';

async function editPair({ page, service }: OpenedConsole): Promise<void> {
  const { client } = service;
  const { collection_id: id } = await client.collections.create({ name: 'FAQ', type: 'qa' });
  const { file_id } = await client.files.upload(new Blob([sheet]), { purpose: 'qa_record_file', name: 'faq.csv' });
  const { record_id } = await client.records.create(id, { type: 'qa_sheet', file_id });
  assert.equal((await settledRecord(client, id, record_id)).status, 'partial');
  await page.goto(`${service.filesUrl}/collections/${id}/records/${record_id}`);
  await page.getByRole('button', { name: 'Edit passage: When do you open?' }).click();
  assert.equal(await page.getByLabel('Question').inputValue(), 'When do you open?');
  await page.getByLabel('Answer').fill('At noon, says the owl.');
  assert.deepEqual(await findingsInBoth(page), nothing);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.locator('li strong', { hasText: 'When do you open?' }).waitFor();
  await page.locator('li', { hasText: 'At noon, says the owl.' }).waitFor();
  // The rows beside the pairs follow.
  await page.locator('td', { hasText: 'At noon, says the owl.' }).waitFor();
  const [hit] = await client.search(id, { query_text: 'owl' });
  assert.deepEqual([hit?.question, hit?.answer], ['When do you open?', 'At noon, says the owl.']);
}

async function correctRows({ page, service }: OpenedConsole): Promise<void> {
  const corrected = 'question,answer,qm:row\nWho may borrow?,Everybody with a card.,3\n';
  await page.getByRole('tab', { name: 'Rejected' }).waitFor();
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Upload the corrected rows' }).click();
  const file = { name: 'rejected-rows.csv', mimeType: 'text/csv', buffer: Buffer.from(corrected) };
  await (await chooser).setFiles(file);
  await page.getByRole('heading', { level: 1, name: 'faq.csv: corrected rows' }).waitFor();
  await page.locator('[data-status="ready"]').waitFor();
  await page.getByRole('link', { name: 'The sheet whose rows these correct' }).click();
  await page.getByRole('heading', { level: 1, name: 'faq.csv', exact: true }).waitFor();
  await page.getByText('Corrected', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'Corrected rows of this sheet' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Upload the corrected rows' }).count(), 0);
  assert.deepEqual(await findingsInBoth(page), nothing);
  await page.goto(`${service.filesUrl}/jobs?status=partial`);
  await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
  await page.getByRole('link', { name: 'Collections' }).last().waitFor();
  assert.equal(await page.locator('[data-record]').count(), 0, 'nothing is left to do');
}

async function openGuide({ page, context, service }: OpenedConsole): Promise<void> {
  await page.goto(`${service.filesUrl}/runs`);
  const opening = context.waitForEvent('page');
  await page.getByRole('link', { name: 'Guide: Runs' }).click();
  const guide = await opening;
  await guide.getByRole('heading', { level: 1 }).waitFor();
  assert.equal(new URL(guide.url()).pathname, '/docs/guides/runs');
  await guide.close();
}
