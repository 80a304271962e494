import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../packages/server/src/platform/testing/until.ts';
import { findingsInBoth, nothing } from '../support/axe.ts';
import { settledRecord } from '../support/client.ts';
import { openConsole, openPage } from '../support/console.ts';
import { waitForFocus } from '../support/console-keyboard.ts';
import { startModelMirror } from '../support/model-mirror.ts';

const name = 'multilingual-e5-small';

test('[console] an administrator chooses a model by keyboard, sees its download and the embedded collections, cancels another, and ends the use of the former one', async (t) => {
  let isStalled = false;
  const { mirror } = await startModelMirror(t, { answer: () => isStalled });
  const settings = { EGRESS_OVERRIDES: JSON.stringify({ 'https://huggingface.co': mirror }) };
  const opened = await openConsole(t, { settings });
  const { page, service } = opened;
  const { collection_id: collection } = await service.client.collections.create({ name: 'things' });
  const { record_id } = await service.client.records.create(collection, { content: 'Green tea.' });
  await settledRecord(service.client, collection, record_id);
  await openPage(opened, 'Project settings');
  const region = page.getByRole('region', { name: 'Search by meaning' });
  await region.getByText('94 languages · 384 dimensions · 487 MB · licence MIT').waitFor();

  await region.getByRole('button', { name: `Use: ${name}` }).press('Enter');
  const dialog = page.getByRole('dialog', { name: `Use ${name}?` });
  await dialog.getByText('downloads 487 MB from https://huggingface.co').waitFor();
  await dialog.getByRole('button', { name: 'Use' }).press('Enter');
  await region.getByText('Finished. Collections: 1.').waitFor();
  await region.getByText('in use', { exact: true }).waitFor();
  assert.equal(await region.getByRole('button', { name: `Use: ${name}` }).count(), 0);
  const find = () => service.client.search(collection, { query_text: 'a hot beverage', top_k: 1 });
  await until(async () => (await find())[0]?.content === 'Green tea.');

  isStalled = true;
  await region.getByRole('button', { name: 'Use: all-MiniLM-L6-v2' }).press('Enter');
  await page.getByRole('dialog').getByRole('button', { name: 'Use' }).press('Enter');
  await region.getByRole('status').filter({ hasText: 'Downloading all-MiniLM-L6-v2.' }).waitFor();
  await region.getByText('0 MB / 91 MB').waitFor();
  // A bar of 0 % has no width.
  await region.getByRole('progressbar', { name: 'Downloading all-MiniLM-L6-v2.' }).waitFor({ state: 'attached' });
  assert.deepEqual(await findingsInBoth(page), nothing);
  await region.getByRole('button', { name: 'Cancel: all-MiniLM-L6-v2' }).press('Enter');
  await region.getByRole('button', { name: 'Use: all-MiniLM-L6-v2' }).waitFor();
  await waitForFocus(page.getByRole('heading', { level: 1, name: 'Project settings' }));

  isStalled = false;
  await region.getByRole('button', { name: 'Use: all-MiniLM-L6-v2' }).press('Enter');
  await page.getByRole('dialog').getByRole('button', { name: 'Use' }).press('Enter');
  await region.getByRole('button', { name: `End use: ${name}` }).press('Enter');
  await region.getByText('downloaded', { exact: true }).waitFor();
  assert.equal(await region.getByText('former model', { exact: true }).count(), 0);
  assert.equal((await find())[0]?.content, 'Green tea.');
  assert.deepEqual(opened.pageErrors, []);
});

test('[console] a failed download shows its reason in both languages and at 375 pixels, and can be dismissed', async (t) => {
  const { mirror } = await startModelMirror(t, { answer: (_, response) => response.writeHead(404).end() });
  const settings = { EGRESS_OVERRIDES: JSON.stringify({ 'https://huggingface.co': mirror }) };
  const opened = await openConsole(t, { settings });
  const { page } = opened;
  await openPage(opened, 'Project settings');
  const region = page.getByRole('region', { name: 'Search by meaning' });
  await region.getByRole('button', { name: `Use: ${name}` }).press('Enter');
  await page.getByRole('dialog').getByRole('button', { name: 'Use' }).press('Enter');
  const alert = region.getByRole('alert').filter({ hasText: `${name} is not in use` });
  await alert.getByText(/status 404 for model\.onnx .* option --mirror\.$/).waitFor();
  await page.setViewportSize({ width: 375, height: 740 });
  await page.evaluate("localStorage.setItem('quartermaster-language', 'zh')");
  await page.reload();
  await page.getByRole('region', { name: '按含义搜索' }).getByText(`${name} 未投入使用`).waitFor();
  assert.deepEqual(await findingsInBoth(page), nothing);
  // The address in the reason is longer than the window.
  const reason = await page.getByText(/status 404 for model\.onnx/).boundingBox();
  assert.ok(reason !== null && reason.x >= 0 && reason.x + reason.width <= 375, JSON.stringify(reason));
  const isCut = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
  assert.equal(isCut, false);
  await page.getByRole('button', { name: `关闭: ${name}` }).press('Enter');
  await until(async () => (await page.getByRole('alert').count()) === 0);
  assert.deepEqual(opened.pageErrors, []);
});
