import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { BrowserContext, Page } from 'playwright-core';
import { findingsInBoth, nothing } from '../support/axe.ts';
import { openConsole, openPage } from '../support/console.ts';
import { seed } from '../support/console-seed.ts';
import { authorizationPath } from '../support/oauth.ts';
import { addPerson } from '../support/people.ts';
import type { StartedService } from '../support/service.ts';

const everybody = [
  'Overview',
  'Files',
  'Collections',
  'Jobs',
  'Catalogue',
  'Runs',
  'Applications',
  'Project settings',
  'Documentation',
];

test('[console] an administrator gives a person roles and ends the access, and the pages offer what the role allows', async (t: TestContext) => {
  const opened = await openConsole(t);
  const { page, service, browser, pageErrors } = opened;
  const seeded = await seed(service);
  const { id, grace, refused } = await openAsPerson(service, await browser.newContext({ locale: 'en-GB' }));
  const visit = async (path: string, heading: string | RegExp) => {
    await grace.goto(service.filesUrl + path);
    await grace.getByRole('heading', { level: 1, name: heading }).waitFor();
    await grace.waitForLoadState('networkidle');
  };
  await visit('/', 'You have no project yet');
  await grace.getByText(`Give them your account id: ${id}`).waitFor();
  assert.deepEqual(await findingsInBoth(grace), nothing);

  await openPage(opened, 'People');
  const members = page.getByRole('region', { name: 'Members of this project' });
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Add member' }).click();
  await dialog.getByLabel('Account', { exact: true }).selectOption(id);
  await dialog.getByLabel('Role', { exact: true }).selectOption('Member');
  assert.deepEqual(await findingsInBoth(page), nothing);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await members.locator(`[data-name="${id}"]`).getByText('Member', { exact: true }).waitFor();

  await visit('/files', 'Files');
  const menu = grace.getByRole('navigation', { name: 'Main' }).getByRole('link');
  assert.deepEqual(await menu.allTextContents(), everybody);
  assert.equal(await grace.locator('input[type=file]').count(), 1, 'a member uploads');
  const consent = await authorizationPath(service.filesUrl, { scope: 'collections files' });
  const offered = async () => {
    await visit(consent, 'Allow an application access?');
    return grace.getByLabel('Collections', { exact: true }).locator('option').allTextContents();
  };
  const reading = ['Search and read collections', 'No access'];
  assert.deepEqual(await offered(), ['Create, fill and search collections', ...reading]);

  await members.getByRole('button', { name: 'Change role: Grace Hopper' }).click();
  await dialog.getByLabel('Role', { exact: true }).selectOption('Viewer');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await members.locator(`[data-name="${id}"]`).getByText('Viewer', { exact: true }).waitFor();
  assert.deepEqual(await offered(), reading);
  const collection = `/collections/${seeded.collectionId}`;
  const pages = [
    ...[['/', 'Overview'] as const, ['/collections', 'Collections'] as const, [collection, 'Guides'] as const],
    ...[[`${collection}/records/${seeded.recordId}`, 'guide.md'] as const, ['/catalogue', 'Catalogue'] as const],
    ...[
      ['/runs', 'Runs'] as const,
      ['/applications', 'Applications'] as const,
      ['/settings', 'Project settings'] as const,
      ['/files', 'Files'] as const,
    ],
  ];
  const changes = /^(New|Create|Add|Delete|Rename|Retry|Cancel|Upload|Choose|Process)\b/;
  for (const [path, heading] of pages) {
    await visit(path, heading);
    assert.deepEqual(await menu.allTextContents(), everybody, path);
    const buttons = await grace.locator('main').getByRole('button').allTextContents();
    const offers = buttons.filter((button) => changes.test(button));
    assert.deepEqual(offers, [], path);
    // The catalogue has one that only shows more.
    const boxes = await grace.locator('input[type=file], main [type=checkbox]').count();
    assert.equal(boxes, path === '/catalogue' ? 1 : 0, path);
  }
  await grace.getByRole('button', { name: 'guide.md', exact: true }).click();
  await grace.getByRole('dialog').getByRole('button', { name: 'Download' }).waitFor();
  assert.equal(await grace.getByRole('dialog').getByRole('button', { name: 'Delete' }).count(), 0);
  assert.deepEqual(refused, [], 'no page asks for more than the role allows');

  await manageAccounts(page, id);
  await grace.goto(service.filesUrl);
  await grace.getByRole('heading', { name: 'Sign in' }).waitFor();
  assert.deepEqual(pageErrors, []);
});

/** Opens a browser in which a person without a role is signed in. `refused` gets the responses that report an error. */
async function openAsPerson(service: StartedService, context: BrowserContext) {
  const { id, person } = await addPerson(service);
  const [name = '', value = ''] = person.cookie.split('=', 2);
  await context.addCookies([{ name, value, url: service.filesUrl }]);
  await context.addInitScript(`localStorage.setItem('quartermaster-console-token', '${person.consoleToken}')`);
  const grace = await context.newPage();
  const refused: string[] = [];
  grace.on('response', (response) => {
    if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`);
  });
  return { id, grace, refused };
}

/** Makes the account an administrator and no longer one, disables it and deletes it. */
async function manageAccounts(page: Page, id: string): Promise<void> {
  const accounts = page.getByRole('region', { name: 'Accounts' });
  const account = accounts.locator(`[data-name="${id}"]`);
  const dialog = page.getByRole('dialog');
  await account.getByText('Signs in at id.example').waitFor();
  const act = async (action: string, name = 'Grace Hopper') => {
    await accounts.getByRole('button', { name: `${action}: ${name}` }).click();
    await dialog.getByRole('button', { name: action }).click();
  };
  await act('Disable', 'Ada');
  const last = 'This is the last enabled administrator of the service.';
  await page.getByRole('status').getByText(last).waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  assert.equal(await accounts.getByRole('button', { name: 'Delete account: Ada' }).count(), 0);

  await act('Make administrator');
  await account.getByText('Administrator of the service').waitFor();
  await act('Remove administrator');
  await account.getByRole('button', { name: 'Make administrator: Grace Hopper' }).waitFor();
  await act('Disable');
  await account.getByText('Disabled').waitFor();
  assert.deepEqual(await findingsInBoth(page), nothing);
  await accounts.getByRole('button', { name: 'Delete account: Grace Hopper' }).click();
  await dialog.getByText('Content that the person added stays.').waitFor();
  const erase = dialog.getByRole('button', { name: 'Delete account' });
  assert.ok(await erase.isDisabled(), 'the name is missing');
  await dialog.getByLabel('Type “Grace Hopper” to confirm').fill('Grace Hopper');
  await erase.click();
  await account.waitFor({ state: 'detached' });
}
