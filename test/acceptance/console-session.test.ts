import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { administrator } from '../support/administrator.ts';
import { type OpenedConsole, openConsole, openPage } from '../support/console.ts';

/** How a session ends while its tab is open: the server forgets it, or the browser does. */
const ends: Readonly<Record<string, (opened: OpenedConsole) => Promise<unknown>>> = {
  'that the server has ended, its cookie still there,': ({ page }) =>
    page.evaluate(
      "fetch('/v1/session?everywhere=true', { method: 'DELETE', headers: { 'x-quartermaster-csrf': '1' } })",
    ),
  'whose cookie is gone': ({ context }) => context.clearCookies(),
};

for (const [session, end] of Object.entries(ends)) {
  test(`[session] a console session ${session} costs one refused request; after the sign-in the page keeps its input`, async (t) => {
    const opened = await openConsole(t);
    const { page } = opened;
    await openPage(opened, 'Collections');
    await page.getByRole('button', { name: 'New collection' }).first().click();
    await page.getByRole('dialog').getByLabel('Name').fill('Kept while I sign in');
    const asked = watchRequests(page);
    await end(opened);
    asked.length = 0;
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();

    const form = page.getByRole('dialog', { name: 'Your session ended' });
    const password = form.getByRole('textbox', { name: 'Password' });
    await password.waitFor();
    assert.deepEqual(asked, ['POST /v1/collections 401']);
    await form.getByLabel('Name').fill(administrator.name);
    await password.fill('not the password');
    await form.getByRole('button', { name: 'Sign in' }).click();
    await form.getByText('Name or password is wrong.').waitFor();
    await password.fill(administrator.password);
    await form.getByRole('button', { name: 'Sign in' }).click();

    await page.getByRole('heading', { level: 1, name: 'Kept while I sign in' }).waitFor();
    assert.deepEqual(
      asked.filter((line) => line.endsWith('401')),
      ['POST /v1/collections 401', 'POST /v1/session 401'],
    );
    assert.equal(asked.filter((line) => line === 'POST /v1/collections 200').length, 1, 'sent again once');
    assert.deepEqual(opened.complaints, []);
  });
}

test('[session] a page that polls stops when its session ends, and continues after a sign-in in another tab', async (t: TestContext) => {
  const opened = await openConsole(t);
  const { page, context } = opened;
  await page.clock.install();
  await openPage(opened, 'Overview');
  const cookies = await context.cookies();
  const asked = watchRequests(page);
  await context.clearCookies();
  const form = page.getByRole('dialog', { name: 'Your session ended' });
  while (!(await form.isVisible())) await page.clock.runFor(1_000);
  const refused = asked.filter((line) => line.endsWith('401')).length;
  assert.ok(refused <= 5, `at most one for each of the things that the page polls, not ${refused}`);
  asked.length = 0;
  await page.clock.runFor(10 * 60_000);
  assert.equal(asked.length, 0, `ten minutes later nothing was asked, but ${asked}`);

  await context.addCookies(cookies);
  await page.evaluate("window.dispatchEvent(new Event('focus'))");
  await form.waitFor({ state: 'detached' });
  while (!asked.some((line) => line.endsWith(' 200') && !line.includes('/v1/session'))) await page.clock.runFor(1_000);
  assert.equal(new URL(page.url()).pathname, '/');
  assert.deepEqual(opened.complaints, []);
});

/** Calls of the API as they are answered: method, path, status. */
function watchRequests(page: Page): string[] {
  const asked: string[] = [];
  page.on('response', (response) => {
    const { pathname } = new URL(response.url());
    const isCall = /\/v1\/|^\/metrics/.test(pathname);
    if (isCall) asked.push(`${response.request().method()} ${pathname} ${response.status()}`);
  });
  return asked;
}
