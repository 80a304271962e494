import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { findingsInBoth, nothing } from '../support/axe.ts';
import { settledRecord } from '../support/client.ts';
import { type OpenedConsole, openConsole, openPage } from '../support/console.ts';
import { tabTo, waitForFocus } from '../support/console-keyboard.ts';

/** All steps share one service and one browser, because starting them takes longer than the checks. */
test('[console] people try an example, and correct passages, pairs and rows', async (t: TestContext) => {
  const opened = await openConsole(t);
  await t.test('[console] one click creates a collection that answers the question it suggests', () =>
    createExample(opened),
  );
  await t.test('[console] a passage is edited by keyboard, and search finds the new text at once', () =>
    editPassage(opened),
  );
  await t.test('[console] unsaved text and edited passages are not lost without a question', () => keepEdits(opened));
  await t.test('[console] the documents of one type are listed', () => filterTypes(opened));
  await t.test('[console] the question and the answer of a pair are edited where they stand', () => editPair(opened));
  await t.test('[console] corrected rows are linked with their sheet, which then tells how many are left', () =>
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
  await waitForFocus(page.getByRole('button', { name: /^Edit passage: The library is open from noon/ }));
}

/** Escape, links, Reprocess and Rename of the page of a document whose only passage was edited. */
async function keepEdits({ page, service }: OpenedConsole): Promise<void> {
  const [collection] = (await service.client.collections.list()).data;
  const id = collection?.collection_id ?? '';
  const edit = page.getByRole('button', { name: /^Edit passage: The library is open from noon/ });
  const text = page.getByLabel('Text of the passage');
  const dialog = page.getByRole('dialog', { name: 'Discard your changes?' });
  await page.getByText('Edited', { exact: true }).waitFor();
  await edit.press('Enter');
  await text.press('Escape');
  await waitForFocus(edit);
  await edit.press('Enter');
  await text.fill('Unsaved.');
  await text.press('Escape');
  assert.deepEqual(await findingsInBoth(page), nothing);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('link', { name: 'Jobs' }).click();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  assert.equal(await text.inputValue(), 'Unsaved.');
  for (const name of ['Rename', 'Reprocess']) {
    await page.getByRole('button', { name }).click();
    await page.getByRole('dialog').getByText('The text of 1 passage is not saved.').waitFor();
    await page.keyboard.press('Escape');
    assert.equal(await text.inputValue(), 'Unsaved.');
  }
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await dialog.getByRole('button', { name: 'Discard' }).click();
  await waitForFocus(edit);
  await page.getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('dialog').getByText('1 passage was edited.').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Reprocess' }).click();
  const asking = page.getByRole('dialog', { name: 'Reprocess “Opening hours”?' });
  await asking.getByText('1 passage was edited.').waitFor();
  await asking.getByRole('button', { name: 'Cancel' }).click();
  await page.goto(`${service.filesUrl}/collections/${id}`);
  for (const name of ['Opening hours', 'Lending']) await page.getByRole('checkbox', { name: `Select ${name}` }).check();
  await page.getByRole('button', { name: 'Reprocess' }).click();
  const askingAll = page.getByRole('dialog', { name: 'Reprocess 2 documents?' });
  await askingAll.getByText('In 1 of them, 1 passage was edited.').waitFor();
  await askingAll.getByRole('button', { name: 'Reprocess' }).click();
  await page.getByText('Reprocessing 2 documents.').waitFor();
  const record = (await service.client.records.list(id, { name: 'Opening hours' })).data[0]?.record_id ?? '';
  await settledRecord(service.client, id, record);
  assert.deepEqual((await service.client.records.chunks(id, record, { edited: true, count: true })).data, []);
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

const sheet =
  'question,answer\nWhen do you open?,At nine.\nWho may borrow?,\nWhat does a card cost?,Twelve euros.\nWhere are you?,\n';

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
  const state = (text: string) => page.locator('[data-status]', { hasText: text }).waitFor();
  const upload = async (content: string) => {
    const chooser = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Upload the corrected rows' }).click();
    await (await chooser).setFiles({ name: 'rows.csv', mimeType: 'text/csv', buffer: Buffer.from(content) });
  };
  const back = async () => {
    await page.getByRole('heading', { level: 1, name: 'faq.csv: corrected rows' }).waitFor();
    await page.getByRole('link', { name: 'The sheet whose rows these correct' }).click();
    await page.getByRole('heading', { level: 1, name: 'faq.csv', exact: true }).waitFor();
  };
  await page.getByRole('tab', { name: 'Rejected (2)' }).waitFor();
  await upload('question,answer\nWho?,I.\n');
  await page.getByText('The sheet has no column “qm:row”').waitFor();
  await upload('question,answer,qm:row\nWho may borrow?,Everybody with a card.,3\n');
  await back();
  await state('1 row to correct');
  await upload('question,answer,qm:row\nWhere are you?,In the old mill.,5\n');
  await back();
  await state('Corrected');
  assert.equal(await page.getByRole('link', { name: 'Corrected rows of this sheet' }).count(), 2);
  assert.equal(await page.getByRole('button', { name: 'Upload the corrected rows' }).count(), 0);
  assert.deepEqual(await findingsInBoth(page), nothing);
  const sheet = page.url();
  await page.goto(`${service.filesUrl}/jobs?status=partial`);
  await page.getByText('No documents here').waitFor();
  await page.goto(sheet);
  await page.getByRole('link', { name: 'Corrected rows of this sheet' }).first().click();
  await page.getByRole('heading', { level: 1, name: 'faq.csv: corrected rows' }).waitFor();
  await page.getByText('Skipped rows').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.locator('[data-record="faq.csv"] [data-status]', { hasText: '1 row to correct' }).waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Restored: 1').waitFor();
  await page.locator('[data-record="faq.csv"] [data-status]', { hasText: 'Corrected' }).waitFor();
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
