import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { dropFiles, openConsole, openPage } from '../support/console.ts';
import { temporaryFolder } from '../support/service.ts';

test('[console] a sheet with unknown columns is imported with the columns that the user chooses', async (t) => {
  const opened = await openConsole(t);
  const { page, pageErrors } = opened;
  const folder = await temporaryFolder(t);
  const path = join(folder, 'faq.csv');
  await writeFile(path, 'Subject,Text,Note\nOpen?,From nine,old\nWhere?,In the hall,new\n');

  await openPage(opened, 'Files');
  await dropFiles(opened, [path]);
  await page.locator('[data-name="faq.csv"][data-state="done"]').waitFor();
  await openPage(opened, 'Collections');
  await page.getByRole('button', { name: 'New collection' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('FAQ');
  await dialog.getByLabel('Type').selectOption('qa');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('button', { name: 'Add documents' }).click();
  await page.getByRole('checkbox', { name: /^faq\.csv/ }).check();
  await page.getByRole('button', { name: 'Add 1 document' }).click();
  await page.locator('[data-record="faq.csv"] [data-status="error"]').waitFor();
  await page.getByRole('link', { name: /faq\.csv/ }).click();

  const form = page.getByRole('region', { name: 'Columns of the sheet' });
  await form.waitFor();
  assert.equal(await form.getByLabel('Question').inputValue(), '1');
  assert.equal(await form.getByLabel('Answer').inputValue(), '2');
  await form.getByRole('cell', { name: 'In the hall' }).waitFor();
  await form.getByLabel('Answer').selectOption('Note');
  await form.getByRole('button', { name: 'Import with these columns' }).click();
  await page.locator('[data-status="ready"]').waitFor();
  await page.getByText('Where?').first().waitFor();
  assert.equal(await form.count(), 0);
  assert.deepEqual(pageErrors, []);
});
