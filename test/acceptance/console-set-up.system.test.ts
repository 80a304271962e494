import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { account } from '../support/administrator.ts';
import { openBrowser } from '../support/browser.ts';
import { startService } from '../support/service.ts';

test('the set-up page explains a password that is easy to guess in its own words, and then opens the overview', async (t) => {
  const service = await startService(t, { settings: { LOG_LEVEL: 'warn' } });
  const { page } = await openBrowser(t);
  await page.goto((await readFile(join(service.folder, 'setup-link'), 'utf8')).trim());
  const choose = async (password: string) => {
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByLabel('Confirm password').fill(password);
    await page.getByRole('button', { name: 'Create administrator' }).click();
  };
  await choose('password password');
  await page.getByText('This password is too easy to guess').waitFor();
  assert.ok(!(await page.locator('main').textContent())?.includes('body/'));
  await choose(account.password);
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
});
