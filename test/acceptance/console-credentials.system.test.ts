import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { findingsInBoth, nothing } from '../support/axe.ts';
import { openConsole } from '../support/console.ts';
import { tabTo } from '../support/console-keyboard.ts';
import { databaseFor } from '../support/postgres.ts';

const sizes = [
  { width: 320, height: 640 },
  { width: 375, height: 740 },
  { width: 1280, height: 900 },
] as const;

test('[console] the credentials of a bundle say where they come from before the user enters them', async (t: TestContext) => {
  const { page, service, pageErrors } = await openConsole(t);
  await page.goto(`${service.filesUrl}/credentials`);
  await page.getByRole('button', { name: 'New profile' }).press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('option', { name: 'Slack' }).waitFor({ state: 'attached' });
  await tabTo(page, dialog.getByLabel('Bundle'));
  await page.keyboard.type('Slack');
  const guide = dialog.getByRole('note').filter({ hasText: 'Before you begin: Slack' });
  await guide.getByText('Slack issues these credentials.').waitFor();
  await guide.getByText('Required field: SLACK_BOT_TOKEN').waitFor();
  await guide.getByText('The service sends them only to: slack.com').waitFor();
  const link = guide.getByRole('link', { name: 'https://api.slack.com/apps' });
  assert.equal(await link.getAttribute('href'), 'https://api.slack.com/apps');
  assert.equal(await link.getAttribute('rel'), 'noreferrer');
  await tabTo(page, link);
  await dialog.getByLabel('Bundle').selectOption('Jira');
  // The address of the site has a placeholder for its name, so it is no link.
  assert.deepEqual(await dialog.getByRole('link').allTextContents(), [
    'https://id.atlassian.com/manage-profile/security/api-tokens',
  ]);
  assert.deepEqual(await findingsInBoth(page), nothing);

  for (const size of sizes) {
    await page.setViewportSize(size);
    await page.goto(`${service.filesUrl}/catalogue/slack/post_message`);
    await page.getByText('Before you begin: Slack').waitFor();
    await page.waitForLoadState('networkidle');
    assert.deepEqual(await findingsInBoth(page), nothing, `${size.width} px`);
    const isCut = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
    assert.equal(isCut, false, `${size.width} px`);
  }
  await page.evaluate("localStorage.setItem('quartermaster-language', 'zh')");
  await page.reload();
  await page.getByText('开始之前：Slack').waitFor();
  assert.deepEqual(pageErrors, []);
});

test('[console] a service without an encryption key says so before the user enters credentials', async (t: TestContext) => {
  const url = await databaseFor(t);
  const { page, service, pageErrors } = await openConsole(t, { settings: { DATABASE_URL: url } });
  await page.goto(`${service.filesUrl}/credentials`);
  await page.getByRole('status').filter({ hasText: 'This service cannot store credentials yet' }).waitFor();
  await page.getByText('sets QUARTERMASTER_SEALING_KEY to the printed key').waitFor();
  assert.equal(await page.getByRole('button', { name: 'New profile' }).count(), 0);
  assert.deepEqual(await findingsInBoth(page), nothing);
  assert.deepEqual(pageErrors, []);
});
