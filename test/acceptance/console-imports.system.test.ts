import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { findingsInBoth, nothing } from '../support/axe.ts';
import { dropFiles, type OpenedConsole, openConsole } from '../support/console.ts';
import { temporaryFolder } from '../support/service.ts';

interface Subject {
  readonly opened: OpenedConsole;
  readonly folder: string;
  readonly collection: string;
}

/** All steps share one service and one browser, because starting them takes longer than the checks. */
test('[console] files become documents of a collection in one step', async (t: TestContext) => {
  const opened = await openConsole(t);
  const folder = await temporaryFolder(t);
  const { collection_id: collection } = await opened.service.client.collections.create({
    name: 'Guides',
    type: 'text',
  });
  const subject = { opened, folder, collection };
  await t.test(
    '[console] a dropped folder is uploaded and added; equal content is noticed, and other formats are refused',
    () => dropFolder(subject),
  );
  await t.test('[console] content that the collection has is noticed without the hash of the browser, too', () =>
    noticeAfterUpload(subject),
  );
  await t.test('[console] a failed upload is listed, and trying it again adds the document', () => tryAgain(subject));
  await t.test('[console] a dropped sheet with unknown columns asks for them', () => chooseColumns(subject));
  await t.test('[console] a search result names its file and its title, and marks whole words', () =>
    readHits(subject),
  );
  assert.deepEqual(opened.pageErrors, []);
});

async function openCollection({ opened, collection }: Subject): Promise<Page> {
  const { page, service } = opened;
  await page.goto(`${service.filesUrl}/collections/${collection}`);
  await page.getByTestId('drop-area').waitFor();
  return page;
}

/** Drops files and folders with the debugger of the browser, because a page cannot create a dropped folder. */
async function dropFromDisk(page: Page, target: Locator, paths: readonly string[]): Promise<void> {
  await target.scrollIntoViewIfNeeded();
  const box = await target.boundingBox();
  assert.ok(box !== null);
  const at = { x: box.x + box.width / 2, y: box.y + 10 };
  const session = await page.context().newCDPSession(page);
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
    await session.send('Input.dispatchDragEvent', {
      type,
      ...at,
      data: { items: [], files: [...paths], dragOperationsMask: 1 },
    });
  }
}

const total = (page: Page, text: string) =>
  page.getByTestId('imports-total').getByText(text, { exact: true }).waitFor();

async function dropFolder(subject: Subject): Promise<void> {
  const page = await openCollection(subject);
  const shelf = join(subject.folder, 'shelf');
  await mkdir(join(shelf, 'old'), { recursive: true });
  await writeFile(join(shelf, 'hours.md'), '# Hours\n\nThe library opens at nine.\n');
  await writeFile(join(shelf, 'old', 'lending.txt'), 'Other books are lent for four weeks.\n');
  await writeFile(join(shelf, 'old', 'same-hours.md'), '# Hours\n\nThe library opens at nine.\n');
  await writeFile(join(shelf, 'old', 'song.mp3'), 'ID3');
  await dropFromDisk(page, page.getByTestId('drop-area'), [shelf]);
  await total(page, '2 of 4 added · 1 already in this collection · 1 failed');
  await page
    .locator('[data-name="shelf/old/song.mp3"][data-state="refused"]')
    .getByText(/^\.mp3 isn’t supported/)
    .waitFor();
  await page.locator('[data-record="lending.txt"] [data-status="ready"]').waitFor();
  assert.equal(await page.locator('[data-record]').count(), 2);
  assert.equal(await page.locator('[data-state="duplicate"]').count(), 1, 'one of the two equal files is imported');
  assert.deepEqual(await findingsInBoth(page), nothing);
  await page.getByRole('button', { name: 'Clear completed' }).click();

  await dropFromDisk(page, page.getByTestId('drop-area'), [join(shelf, 'hours.md')]);
  await total(page, '0 of 1 added · 1 already in this collection');
  await page.getByRole('link', { name: 'Show the document with the content of hours.md' }).waitFor();
  assert.equal((await subject.opened.service.client.files.list()).data.length, 2, 'nothing was uploaded twice');
  await page.getByRole('button', { name: 'Add anyway: hours.md' }).click();
  await total(page, '1 of 1 added');
  await page.locator('[data-record]').nth(2).waitFor();
  assert.equal((await subject.opened.service.client.files.list()).data.length, 2, 'the stored file is used again');
}

/** Pages without HTTPS have no `crypto.subtle`. */
async function noticeAfterUpload({ opened, collection, folder }: Subject): Promise<void> {
  const page = await opened.context.newPage();
  await page.addInitScript("Object.defineProperty(crypto, 'subtle', { value: undefined })");
  const shownBeforeDeletion: number[] = [];
  await page.route('**/v1/files/*', async (route) => {
    if (route.request().method() === 'DELETE')
      shownBeforeDeletion.push(await page.locator('[data-state="duplicate"]').count());
    await route.continue();
  });
  await page.goto(`${opened.service.filesUrl}/collections/${collection}`);
  await dropFiles({ ...opened, page }, [join(folder, 'shelf', 'old', 'lending.txt')]);
  await total(page, '0 of 1 added · 1 already in this collection');
  assert.deepEqual(shownBeforeDeletion, [0], 'the duplicate is announced once its upload is deleted');
  assert.equal((await opened.service.client.files.list()).data.length, 2, 'the second upload was deleted');
  await page.close();
}

async function tryAgain(subject: Subject): Promise<void> {
  const page = await openCollection(subject);
  const path = join(subject.folder, 'late.md');
  await writeFile(path, 'Late books cost nothing.\n');
  await page.route('**/v1/files', (route) => (route.request().method() === 'POST' ? route.abort() : route.continue()));
  await dropFiles(subject.opened, [path]);
  await page.locator('[data-name="late.md"][data-state="failed"]').waitFor();
  await page.unroute('**/v1/files');
  await page.getByRole('button', { name: 'Try again: late.md' }).click();
  await page.locator('[data-record="late.md"] [data-status="ready"]').waitFor();
  await total(page, '1 of 1 added');
}

async function chooseColumns({ opened, folder }: Subject): Promise<void> {
  const { page, service } = opened;
  const { collection_id: id } = await service.client.collections.create({ name: 'FAQ', type: 'qa' });
  const path = join(folder, 'faq.csv');
  await writeFile(path, 'Subject,Text,Note\nOpen?,From nine,old\nWhere?,In the hall,new\n');
  await page.goto(`${service.filesUrl}/collections/${id}`);
  await dropFiles(opened, [path]);
  const form = page.getByRole('region', { name: 'Columns of faq.csv' });
  await form.getByLabel('Answer').selectOption('Note');
  await form.getByRole('button', { name: 'Import with these columns' }).click();
  await page.locator('[data-record="faq.csv"] [data-status="ready"]').waitFor();
  await form.waitFor({ state: 'detached' });
}

async function readHits({ opened, collection }: Subject): Promise<void> {
  const { page, service } = opened;
  const { client } = service;
  const [file] = (await client.files.list({ name: 'lending.txt' })).data;
  await client.records
    .create(collection, { type: 'file', file_id: file?.file_id ?? '', title: 'Rules of lending' })
    .wait();
  await page.goto(`${service.filesUrl}/collections/${collection}?tab=search&q=the four weeks`);
  const hit = page.getByRole('listitem').filter({ hasText: 'Rules of lending' });
  await hit.waitFor();
  await hit.getByText('lending.txt', { exact: true }).waitFor();
  assert.deepEqual(await hit.locator('mark').allTextContents(), ['four', 'weeks']);
  await hit.getByRole('link', { name: 'Open in document: Rules of lending' }).waitFor();
  await page.getByRole('listitem').filter({ hasText: 'hours.md' }).first().waitFor();
}
