import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findingsInBoth, nothing } from '../support/axe.ts';
import { settledRecord } from '../support/client.ts';
import { openConsole, openPage } from '../support/console.ts';
import { tabTo, waitForFocus } from '../support/console-keyboard.ts';

const sizes = [
  { width: 320, height: 640 },
  { width: 375, height: 740 },
  { width: 1280, height: 900 },
] as const;

test('[console] chosen files are added to a collection by keyboard alone, with the result of each file', async (t) => {
  const opened = await openConsole(t);
  const { page, service, pageErrors } = opened;
  const { client } = service;
  const upload = (name: string, content: string, purpose: 'record_file' | 'qa_record_file' = 'record_file') =>
    client.files.upload(new Blob([content]), { purpose, name });
  const { collection_id: id } = await client.collections.create({ name: 'Rules' });
  const { file_id } = await upload('known.md', '# Lending\n\nFour weeks.\n');
  const { record_id } = await client.records.create(id, { type: 'file', file_id });
  await settledRecord(client, id, record_id);
  await upload('copy.md', '# Lending\n\nFour weeks.\n');
  await upload('new.md', '# Hours\n\nFrom nine to six.\n');
  await upload('faq.csv', 'question,answer\nOpen?,From nine.\n', 'qa_record_file');

  await openPage(opened, 'Files');
  for (const name of ['copy.md', 'new.md', 'faq.csv'])
    await page.getByRole('checkbox', { name: `Select ${name}` }).press('Space');
  const open = page.getByRole('button', { name: 'Add to a collection' });
  await page.getByRole('checkbox', { name: 'Select all' }).focus();
  await tabTo(page, open);
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Add 3 files to a collection' });
  await dialog.getByRole('option', { name: 'Rules' }).waitFor({ state: 'attached' });
  await tabTo(page, dialog.getByLabel('Collection', { exact: true }));
  await page.keyboard.type('Rules');
  await tabTo(page, dialog.getByRole('button', { name: 'Add 3 documents' }));
  await page.keyboard.press('Enter');
  const summary = dialog.getByRole('status');
  await summary.filter({ hasText: '1 of 3 added, 1 already in the collection, 1 failed.' }).waitFor();
  await waitForFocus(summary);
  const stateOf = (name: string) => dialog.locator(`[data-name="${name}"]`).getAttribute('data-state');
  const states = await Promise.all(['copy.md', 'new.md', 'faq.csv'].map(stateOf));
  assert.deepEqual(states, ['duplicate', 'added', 'failed']);
  // The reason is that of the service, which names the purpose that text collections accept.
  assert.match((await dialog.locator('[data-name="faq.csv"]').textContent()) ?? '', /record_file|purpose/);
  for (const size of sizes) {
    await page.setViewportSize(size);
    assert.deepEqual(await findingsInBoth(page), nothing, `${size.width} px`);
  }
  await tabTo(page, dialog.getByRole('button', { name: 'Add 1 anyway' }));
  await page.keyboard.press('Enter');
  await summary.filter({ hasText: '2 of 3 added, 0 already in the collection, 1 failed.' }).waitFor();
  await waitForFocus(summary);
  const { data } = await client.records.list(id);
  const names = data.map(({ content }) => (JSON.parse(content) as { file_name: string }).file_name); // the contract
  assert.deepEqual(names.sort(), ['copy.md', 'known.md', 'new.md']);
  await page.keyboard.press('Escape');
  await waitForFocus(open);
  await page.evaluate("localStorage.setItem('quartermaster-language', 'zh')");
  await page.reload();
  await page.getByRole('checkbox', { name: '选择 new.md' }).press('Space');
  await page.getByRole('button', { name: '添加到集合' }).press('Enter');
  await page.getByRole('dialog', { name: '将 1 个文件添加到集合' }).waitFor();
  assert.deepEqual(pageErrors, []);
});
