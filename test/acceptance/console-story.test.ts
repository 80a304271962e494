import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { test } from 'node:test';
import { openBrowser } from '../support/browser.ts';
import { createKeyInConsole, dropFiles, openPage, setUpInPages } from '../support/console.ts';
import { writeHandbook } from '../support/sample-handbook.ts';
import { startService } from '../support/service.ts';

test('[console] an administrator sets up, creates a key, adds three documents, asks, runs a plugin and revokes the key, which then gets 401', async (t) => {
  const opened = { service: await startService(t, { settings: { LOG_LEVEL: 'warn' } }), ...(await openBrowser(t)) };
  await setUpInPages(opened);
  const { page, service, pageErrors, origins } = opened;
  const { paths, remove } = await writeHandbook();
  t.after(remove);
  const names = paths.map((path) => basename(path));
  const key = await createKeyInConsole(opened, 'story');
  const use = () => fetch(`${service.filesUrl}/v1/files`, { headers: { Authorization: `Bearer ${key}` } });
  assert.equal((await use()).status, 200);

  await openPage(opened, 'Files');
  await dropFiles(opened, paths);
  for (const name of names) await page.locator(`[data-name="${name}"][data-state="done"]`).waitFor();

  await openPage(opened, 'Collections');
  await page.getByRole('button', { name: 'New collection' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Handbooks');
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
  await page.getByRole('button', { name: 'Add documents' }).click();
  for (const name of names) await page.getByRole('checkbox', { name: new RegExp(`^${name}`) }).check();
  await page.getByRole('button', { name: 'Add 3 documents' }).click();
  for (const name of names) await page.locator(`[data-record="${name}"] [data-status="ready"]`).waitFor();

  await page.getByRole('tab', { name: 'Search' }).click();
  await page.getByLabel('Search this collection').fill('How does one pronounce Quartermaster?');
  await page.getByRole('button', { name: 'Search' }).click();
  const best = page.getByRole('listitem').filter({ hasText: 'Why this result' }).first();
  await best.waitFor();
  assert.match((await best.textContent()) ?? '', /pronounce/i);
  await best.getByRole('link', { name: 'Open in document' }).click();
  const chosen = page.locator('li[data-chosen]');
  await chosen.waitFor();
  assert.match((await chosen.textContent()) ?? '', /pronounce/i);

  await openPage(opened, 'Catalogue');
  await page.getByLabel('Search bundles and plugins').fill('calculator evaluate');
  await page.getByRole('link', { name: /^Evaluate/ }).click();
  await page.getByLabel('expression').fill('5**2+8/2-3');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByTestId('result-tree').getByText('"26"').waitFor();
  await page.getByRole('link', { name: 'View run' }).click();
  await page.getByRole('heading', { name: 'calculator/evaluate' }).waitFor();
  await openPage(opened, 'Runs');
  await page.getByRole('link', { name: /calculator\/evaluate.*Succeeded/ }).waitFor();

  await openPage(opened, 'Project settings');
  await page.locator('[data-name="story"]').getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await page.locator('[data-name="story"]').getByText('Revoked').waitFor();
  assert.equal((await use()).status, 401);
  assert.deepEqual(pageErrors, []);
  assert.deepEqual([...origins], [service.filesUrl]);
});
