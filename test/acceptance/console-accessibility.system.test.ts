import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { account } from '../support/administrator.ts';
import { findingsInBoth, findingsInLight, nothing } from '../support/axe.ts';
import { settledRecord } from '../support/client.ts';
import { type OpenedConsole, openConsole } from '../support/console.ts';
import { openFileChooser, tabTo, waitForFocus } from '../support/console-keyboard.ts';
import { type Seeded, seed } from '../support/console-seed.ts';
import { authorizationPath } from '../support/oauth.ts';
import type { StartedService } from '../support/service.ts';

interface Subject {
  readonly opened: OpenedConsole;
  readonly seeded: Seeded;
  readonly sheetCollectionId: string;
}

/** 320 pixels are also a window of 1280 pixels at 400 %, and 640 pixels one at 200 %. */
const narrow = [
  { width: 320, height: 640 },
  { width: 375, height: 740 },
  { width: 640, height: 450 },
] as const;

/** All steps share one service and one browser, because starting them takes longer than the checks. */
test('[console] works with the keyboard and in narrow windows', async (t: TestContext) => {
  const opened = await openConsole(t);
  const sheetCollectionId = await addPartialSheet(opened.service);
  const subject = { opened, seeded: await seed(opened.service), sheetCollectionId };
  await t.test('[console] axe finds nothing serious on any page at 320, 375 and 640 pixels, and no page is cut', () =>
    lookAtNarrowPages(subject),
  );
  await t.test('[console] the menu of a narrow window opens, holds the focus and closes by keyboard', () =>
    useMenu(subject),
  );
  await t.test('[console] the focus returns after dialogs, forms and deletions', () => keepFocus(subject));
  await t.test('[console] changes are announced, and buttons of rows are named after them', () => announce(subject));
  await t.test('[console] an administrator signs in, adds a document and finds it with the keyboard alone', () =>
    workByKeyboard(subject),
  );
  assert.deepEqual(opened.pageErrors, []);
});

/** Adds a sheet that becomes partially ready, whose state is the longest. @returns the id of its collection */
async function addPartialSheet({ client }: StartedService): Promise<string> {
  const { collection_id: id } = await client.collections.create({ name: 'FAQ', type: 'qa' });
  const content = new Blob(['question,answer\nWhen do you open?,At nine.\nWhere are you?,\n']);
  const { file_id } = await client.files.upload(content, {
    purpose: 'qa_record_file',
    name: 'questions-of-visitors.csv',
  });
  const { record_id } = await client.records.create(id, { type: 'qa_sheet', file_id });
  assert.equal((await settledRecord(client, id, record_id)).status, 'partial');
  return id;
}

function pathsOf({ collectionId, recordId, runId }: Seeded): readonly string[] {
  const collection = `/collections/${collectionId}`;
  return [
    ...['/', '/files', '/collections', collection, `${collection}?tab=search&q=library`, `${collection}?tab=evaluate`],
    ...[
      `${collection}/records/${recordId}`,
      '/jobs?status=error',
      '/catalogue',
      '/catalogue/add',
      '/catalogue/calculator/evaluate',
      '/runs',
      `/runs/${runId}`,
    ],
    ...['/credentials', '/settings', '/applications', '/people', '/audit', '/runs/no/such'],
  ];
}

/** Each page is loaded in the smallest window, which then grows. Its colours do not depend on the width. */
async function lookAtNarrowPages({ opened: { page, service }, seeded, sheetCollectionId }: Subject): Promise<void> {
  const consent = await authorizationPath(service.filesUrl);
  const states = ['/jobs?status=partial', `/collections/${sheetCollectionId}`];
  for (const path of [...pathsOf(seeded), ...states, consent]) {
    await page.setViewportSize(narrow[0]);
    await page.goto(service.filesUrl + path);
    if (states.includes(path)) await page.locator('[data-status="partial"]').waitFor();
    if (path === consent) await page.getByRole('heading', { name: 'Allow an application access?' }).waitFor();
    await page.locator('h1').waitFor();
    await page.waitForLoadState('networkidle');
    assert.deepEqual(await findingsInBoth(page), nothing, path);
    for (const size of narrow) {
      await page.setViewportSize(size);
      if (size !== narrow[0]) assert.deepEqual(await findingsInLight(page), [], `${path} at ${size.width} px`);
      const cut = await page.evaluate<string[]>(
        `[...document.querySelectorAll('header button, header a, header select, h1')]
          .filter((one) => one.getBoundingClientRect().right > innerWidth + 0.5)
          .map((one) => one.outerHTML.slice(0, 80))
          .concat(document.documentElement.scrollWidth > innerWidth ? ['the page'] : [])
          .concat([...document.querySelectorAll('[data-status] *')]
            .filter((one) => one.scrollWidth > one.clientWidth)
            .map((one) => one.textContent))`,
      );
      assert.deepEqual(cut, [], `${path} at ${size.width} px`);
    }
  }
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.emulateMedia({ colorScheme: null });
}

const isInMenu = "document.querySelector('#menu')?.contains(document.activeElement) === true";

async function useMenu({ opened: { page, service } }: Subject): Promise<void> {
  await page.setViewportSize({ width: 375, height: 740 });
  await page.goto(`${service.filesUrl}/files`);
  const button = page.getByRole('button', { name: 'Menu' });
  await page.getByRole('heading', { level: 1, name: 'Files' }).waitFor();
  assert.equal(await button.getAttribute('aria-expanded'), 'false');
  for (let tabs = 0; tabs < 12; tabs += 1) {
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(isInMenu), false, 'the closed menu has no focus');
  }
  await button.focus();
  await page.keyboard.press('Enter');
  await waitForFocus(page.getByRole('link', { name: 'Overview' }));
  assert.equal(await button.getAttribute('aria-expanded'), 'true');
  assert.equal(await page.locator('main').getAttribute('inert'), '', 'the covered page has no focus');
  await page.keyboard.press('Escape');
  await waitForFocus(button);
  assert.equal(await button.getAttribute('aria-expanded'), 'false');
  await page.keyboard.press('Enter');
  await waitForFocus(page.getByRole('link', { name: 'Overview' }));
  await page.getByRole('link', { name: 'Collections', exact: true }).press('Enter');
  await waitForFocus(page.getByRole('heading', { level: 1, name: 'Collections' }));
  await page.setViewportSize({ width: 1280, height: 900 });
}

async function keepFocus({ opened: { page, service } }: Subject): Promise<void> {
  await page.goto(`${service.filesUrl}/settings`);
  const create = page.getByRole('button', { name: 'Create key' });
  await create.press('Enter');
  await waitForFocus(page.getByRole('dialog').getByLabel('Name'));
  await page.keyboard.press('Escape');
  await waitForFocus(create);

  await page.goto(`${service.filesUrl}/collections`);
  await page.getByRole('button', { name: 'New collection' }).press('Enter');
  await page.getByRole('dialog').getByLabel('Name').fill('By keyboard');
  await page.keyboard.press('Enter');
  await waitForFocus(page.getByRole('heading', { level: 1, name: 'By keyboard' }));

  const add = page.getByRole('button', { name: 'Add documents' });
  await add.press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('tab', { name: 'From text' }).click();
  await dialog.getByLabel('Text', { exact: true }).fill('Otters may borrow ten books.');
  await dialog.getByRole('button', { name: 'Add', exact: true }).press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await waitForFocus(add);

  await page.getByRole('button', { name: 'Delete collection' }).press('Enter');
  assert.equal(await dialog.getByRole('button', { name: 'Delete collection' }).isDisabled(), true);
  await dialog.getByLabel('Enter the name “By keyboard” to confirm').fill('By keyboard');
  await page.keyboard.press('Enter');
  await waitForFocus(page.getByRole('heading', { level: 1, name: 'Collections' }));

  await page.goto(`${service.filesUrl}/catalogue/calculator/evaluate`);
  await page.getByLabel('expression').fill('1+1');
  const run = page.getByRole('button', { name: 'Run', exact: true });
  await run.press('Enter');
  await page.getByRole('link', { name: 'View run' }).waitFor();
  await waitForFocus(run);
}

async function announce({ opened: { page, service } }: Subject): Promise<void> {
  const status = (text: string | RegExp) => page.getByRole('status').filter({ hasText: text }).waitFor();
  await page.goto(`${service.filesUrl}/catalogue`);
  await page.getByLabel('Search bundles and plugins').fill('calculator evaluate');
  await status(/^\d+ plugins? match/);
  await page.goto(`${service.filesUrl}/files`);
  await page.setInputFiles('input[type=file]', { name: 'tea.txt', mimeType: 'text/plain', buffer: Buffer.from('tea') });
  await status('1 of 1 file stored.');
  await page.goto(`${service.filesUrl}/settings`);
  await page.getByRole('button', { name: 'Create key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('nightly');
  await dialog.getByRole('checkbox').first().check();
  await dialog.getByRole('button', { name: 'Create key' }).click();
  await page.getByRole('button', { name: 'I copied the key' }).click();
  await page.getByRole('button', { name: 'Rotate: nightly' }).waitFor();
  await page.getByRole('button', { name: 'Revoke: nightly' }).waitFor();
}

async function workByKeyboard({ opened, seeded }: Subject): Promise<void> {
  const { page, context, service } = opened;
  await context.clearCookies();
  await page.goto(`${service.filesUrl}/collections`);
  await waitForFocus(page.getByLabel('Name'));
  await page.keyboard.type(account.name);
  await page.keyboard.press('Tab');
  await page.keyboard.type('not the password');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').filter({ hasText: 'The name or the password is wrong' }).waitFor();
  const password = page.getByLabel('Password', { exact: true });
  assert.equal(await password.getAttribute('aria-invalid'), 'true');
  await password.fill('');
  await password.focus();
  await page.keyboard.type(account.password);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Collections' }).waitFor();

  await tabTo(page, page.getByRole('link', { name: /Guides/ }));
  await page.keyboard.press('Enter');
  await waitForFocus(page.getByRole('heading', { level: 1, name: 'Guides' }));
  await tabTo(page, page.getByRole('button', { name: 'Upload files' }));
  await (await openFileChooser(page)).setFiles({
    name: 'otters.md',
    mimeType: 'text/markdown',
    buffer: Buffer.from('# Otters\n\nTen.\n'),
  });
  await page.locator('[data-record="otters.md"] [data-status="ready"]').waitFor();

  await page.getByRole('tab', { name: 'Documents' }).focus();
  await page.keyboard.press('ArrowRight');
  await tabTo(page, page.getByLabel('Search this collection'));
  await page.keyboard.type('otters');
  await page.keyboard.press('Enter');
  await page
    .getByRole('status')
    .filter({ hasText: /^\d+ results?$/ })
    .waitFor();
  await tabTo(page, page.getByRole('link', { name: 'Open in document: otters.md' }));
  await page.keyboard.press('Enter');
  await waitForFocus(page.getByRole('heading', { level: 1, name: 'otters.md' }));
  assert.ok(page.url().includes(seeded.collectionId));
}
