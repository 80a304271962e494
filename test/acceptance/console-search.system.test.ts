import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { findingsInBoth, nothing } from '../support/axe.ts';
import { settledRecord } from '../support/client.ts';
import { type OpenedConsole, openConsole } from '../support/console.ts';
import { tabTo, waitForFocus } from '../support/console-keyboard.ts';
import { textPdf } from '../support/sample-pdf.ts';

interface Subject {
  readonly opened: OpenedConsole;
  readonly collection: string;
}

/** All steps share one service and one browser, because starting them takes longer than the checks. */
test('[console] the search shows documents beside its results', async (t: TestContext) => {
  const opened = await openConsole(t);
  const subject = await fillCollections(opened);
  await t.test(
    '[console] the document of a search result opens beside it and closes by keyboard, and the URL holds it',
    () => openDocument(subject),
  );
  await t.test('[console] axe finds nothing serious beside search results at 320, 375 and 1280 pixels', () =>
    checkWidths(subject),
  );
  await t.test(
    '[console] a sheet of questions shows how often the answers are found, and compares with the last time',
    () => evaluateSheet(subject),
  );
  await t.test('[console] a search result that was deleted since says so', () => openDeleted(subject));
  assert.deepEqual(opened.pageErrors, []);
});

const pages = [
  ['Opening hours', 'The library opens at nine and closes at six. On Sundays it stays closed all day.'],
  ['Lending', 'Otters may borrow ten books for four weeks, and the desk lends them a bag for the way home.'],
];

async function fillCollections(opened: OpenedConsole): Promise<Subject> {
  const { client } = opened.service;
  const { collection_id: collection } = await client.collections.create({ name: 'Rules' });
  const pdf = new Blob([new Uint8Array(textPdf(pages))]);
  const { file_id } = await client.files.upload(pdf, { purpose: 'record_file', name: 'rules.pdf' });
  const sources = [
    { type: 'file', file_id } as const,
    { title: 'Visitors', content: 'Visitors ask otters about fish. Otters answer in the evening.' },
  ];
  for (const source of sources) {
    const { record_id } = await client.records.create(collection, source);
    assert.equal((await settledRecord(client, collection, record_id)).status, 'ready');
  }
  return { opened, collection };
}

async function openDocument({ opened, collection }: Subject): Promise<void> {
  const { page, service } = opened;
  await page.goto(`${service.filesUrl}/collections/${collection}?tab=search&q=otters+borrow+books`);
  const opener = page.getByRole('button', { name: /^Show beside the results: \d\. rules\.pdf/ });
  await page.getByLabel('Search this collection').focus();
  await tabTo(page, opener);
  assert.equal(await opener.getAttribute('aria-expanded'), 'false');
  await page.keyboard.press('Enter');
  const panel = page.getByRole('region', { name: 'Document: rules.pdf' });
  await waitForFocus(panel.getByRole('heading', { name: 'Document: rules.pdf' }));
  await panel.getByRole('status').filter({ hasText: 'Page 1 of 2. The passage is marked.' }).waitFor();
  await panel.locator('[data-mark]').first().waitFor();
  assert.equal(await opener.getAttribute('aria-expanded'), 'true');
  await page.keyboard.press('Escape');
  await waitForFocus(opener);
  assert.equal(await panel.count(), 0);
  assert.equal(new URL(page.url()).searchParams.get('chunk'), null);

  await page.getByRole('button', { name: /^Show beside the results: \d\. Visitors/ }).press('Enter');
  const other = page.getByRole('region', { name: 'Document: Visitors' });
  await waitForFocus(other.getByRole('heading', { name: 'Document: Visitors' }));
  await page.reload();
  assert.match((await other.locator('mark').textContent()) ?? '', /Visitors ask otters about fish/);
  await tabTo(page, other.getByRole('button', { name: 'Close the document' }));
  await page.keyboard.press('Enter');
  await other.waitFor({ state: 'detached' });
  await waitForFocus(page.getByRole('button', { name: /^Show beside the results: \d\. Visitors/ }));
}

const sizes = [
  { width: 320, height: 640 },
  { width: 375, height: 740 },
  { width: 1280, height: 900 },
] as const;

async function checkWidths({ opened, collection }: Subject): Promise<void> {
  const { page, service } = opened;
  await page.goto(`${service.filesUrl}/collections/${collection}?tab=search&q=otters+borrow+books`);
  await page.getByRole('button', { name: /^Show beside the results: \d\. rules\.pdf/ }).click();
  await page.locator('[data-mark]').first().waitFor();
  for (const language of ['en', 'zh']) {
    await page.evaluate(`localStorage.setItem('quartermaster-language', '${language}')`);
    for (const size of language === 'en' ? sizes : sizes.slice(1, 2)) {
      await page.setViewportSize(size);
      await page.reload();
      await page.locator('[data-mark]').first().waitFor();
      await page.waitForLoadState('networkidle');
      assert.deepEqual(await findingsInBoth(page), nothing, `${size.width} px in ${language}`);
      const isCut = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
      assert.equal(isCut, false, `${size.width} px in ${language}`);
    }
  }
  await page.setViewportSize(sizes[2]);
  await page.evaluate("localStorage.setItem('quartermaster-language', 'en')");
}

async function openDeleted({ opened, collection }: Subject): Promise<void> {
  const { page, service } = opened;
  await page.goto(`${service.filesUrl}/collections/${collection}?tab=search&q=visitors+fish`);
  const opener = page.getByRole('button', { name: /^Show beside the results: 1\. Visitors/ });
  await opener.waitFor();
  const { data } = await service.client.records.list(collection);
  const visitors = data.find(({ title }) => title === 'Visitors');
  await service.client.records.delete(collection, visitors?.record_id ?? '');
  await opener.press('Enter');
  await page.getByRole('status').filter({ hasText: 'The linked passage no longer exists.' }).waitFor();
  await page.getByRole('button', { name: 'Close the document' }).press('Enter');
  await waitForFocus(opener);
}

async function evaluateSheet({ opened, collection }: Subject): Promise<void> {
  const { page, service } = opened;
  await page.goto(`${service.filesUrl}/collections/${collection}?tab=evaluate`);
  const buffer = Buffer.from(
    'question,expected\nHow many books may otters borrow?,rules.pdf\nIs there parking?,Parking\n',
  );
  const sheet = { name: 'questions.csv', mimeType: 'text/csv', buffer };
  for (const expected of [/^1 of 2$/, /^1 of 2 \(before: 1 of 2\)$/]) {
    await page.locator('input[accept=".csv,.xlsx"]').setInputFiles(sheet);
    await page.getByRole('button', { name: 'Evaluate' }).click();
    await page.locator('dd').filter({ hasText: expected }).first().waitFor();
  }
  const row = page.getByRole('row', { name: /Is there parking\?/ });
  assert.match((await row.textContent()) ?? '', /not found/);
  const blank = {
    ...sheet,
    buffer: Buffer.from('question,expected\nHow many books may otters borrow?,rules.pdf\nWhy?,\n'),
  };
  await page.locator('input[accept=".csv,.xlsx"]').setInputFiles(blank);
  await page.getByRole('button', { name: 'Evaluate' }).click();
  await page.getByText('1 row was not asked').waitFor();
  await page.getByText(/^Row 3: /).waitFor();
  assert.equal(await page.getByText('Every expected answer was found first').count(), 0);
  await page.getByText(/had other questions: 1 of its 2 questions is the same/).waitFor();
  await page.getByRole('tab', { name: 'Documents' }).click();
  await page.getByRole('tab', { name: 'Evaluate' }).click();
  await page.getByText(/^Evaluated /).waitFor();
  await page.getByText('1 row was not asked').waitFor();
  const other = { ...sheet, buffer: Buffer.from('x,y,z\n1,2,3\n') };
  await page.locator('input[accept=".csv,.xlsx"]').setInputFiles(other);
  await page.getByRole('button', { name: 'Evaluate' }).click();
  await page.getByText('The columns of questions and of what is expected were not found.').waitFor();
  for (const size of sizes.slice(1)) {
    await page.setViewportSize(size);
    assert.deepEqual(await findingsInBoth(page), nothing, `${size.width} px`);
  }
}
