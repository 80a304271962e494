import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { consoleTokenHeader, csrfHeader, projectHeader } from '@quartermaster/contract';
import type { Page } from 'playwright-core';
import { account, beginSession } from '../support/administrator.ts';
import { type OpenedConsole, openConsole, openPage } from '../support/console.ts';
import { serve } from '../support/http.ts';
import { servedOperations } from '../support/operations.ts';
import { share } from '../support/service.ts';

const shared = share(openConsole);

/** Ways in which a session ends while its tab is open: the server or the browser forgets it. */
const ends: Readonly<Record<string, (opened: OpenedConsole) => Promise<unknown>>> = {
  'that the server has ended, its cookie still there,': ({ page }) =>
    page.evaluate(
      `fetch('/v1/session?everywhere=true', {
        method: 'DELETE',
        headers: { '${csrfHeader}': '1', '${consoleTokenHeader}': localStorage['quartermaster-console-token'] },
      })`,
    ),
  'whose cookie is gone': ({ context }) => context.clearCookies(),
};

for (const [session, end] of Object.entries(ends)) {
  test(`[session] a console session ${session} costs one refused request; after the sign-in the page keeps its input`, async () => {
    const opened = await shared();
    const { page } = opened;
    await openPage(opened, 'Collections');
    await page.getByRole('button', { name: 'New collection' }).first().click();
    await page.getByRole('dialog').getByLabel('Name').fill('Kept while I sign in');
    // A request of the page that is still in transit would be refused as well.
    await page.waitForLoadState('networkidle');
    const requests = watchRequests(page);
    await end(opened);
    requests.length = 0;
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();

    const form = page.getByRole('dialog', { name: 'Your session ended' });
    const password = form.getByRole('textbox', { name: 'Password' });
    await password.waitFor();
    assert.deepEqual(requests, ['POST /v1/collections 401']);
    await form.getByLabel('Name').fill(account.name);
    await password.fill('not the password');
    await form.getByRole('button', { name: 'Sign in' }).click();
    await form.getByText('The name or the password is wrong. Check both and sign in again.').waitFor();
    await password.fill(account.password);
    await form.getByRole('button', { name: 'Sign in' }).click();

    await page.getByRole('heading', { level: 1, name: 'Kept while I sign in' }).waitFor();
    assert.deepEqual(
      requests.filter((line) => line.endsWith('401')),
      ['POST /v1/collections 401', 'POST /v1/session 401'],
    );
    assert.equal(requests.filter((line) => line === 'POST /v1/collections 200').length, 1, 'sent again once');
    assert.deepEqual(opened.pageErrors, []);
  });
}

test('[session] a page that polls stops when its session ends, and continues after a sign-in in another tab', async (t: TestContext) => {
  const opened = await openConsole(t);
  const { page, context } = opened;
  await page.clock.install();
  await openPage(opened, 'Overview');
  const cookies = await context.cookies();
  const requests = watchRequests(page);
  await context.clearCookies();
  const form = page.getByRole('dialog', { name: 'Your session ended' });
  while (!(await form.isVisible())) await page.clock.runFor(1_000);
  const refused = requests.filter((line) => line.endsWith('401')).length;
  assert.ok(refused <= 5, `at most one for each of the things that the page polls, not ${refused}`);
  requests.length = 0;
  await page.clock.runFor(10 * 60_000);
  assert.equal(requests.length, 0, `ten minutes later nothing was asked, but ${requests}`);

  await context.addCookies(cookies);
  await page.evaluate("window.dispatchEvent(new Event('focus'))");
  await form.waitFor({ state: 'detached' });
  while (!requests.some((line) => line.endsWith(' 200') && !line.includes('/v1/session')))
    await page.clock.runFor(1_000);
  assert.equal(new URL(page.url()).pathname, '/');
  assert.deepEqual(opened.pageErrors, []);
});

test('[session] a page on another port of this host gets the cookies of the console, but neither its token nor a response of the API', async (t) => {
  const opened = await shared();
  const { page, context, service } = opened;
  await openPage(opened, 'Collections');
  const token = String(await page.evaluate("localStorage['quartermaster-console-token']"));
  assert.match(token, /^[\w-]{43}$/);
  const projectId = String(await page.evaluate("localStorage['quartermaster-project']"));

  const sent: string[] = [];
  const origin = await serve(t, (request, answer) => {
    sent.push(request.headers.cookie ?? '');
    answer.setHeader('Content-Type', 'text/html').end('<!doctype html><title>a neighbour</title>');
  });
  const other = await context.newPage();
  await other.goto(`${origin}/`);
  const readable = String(
    await other.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])'),
  );
  const [cookie = ''] = sent;
  assert.match(
    cookie,
    /quartermaster_session=[\w-]{43}/,
    'the browser sends the cookies of a host to each of its ports',
  );
  assert.ok(!`${sent.join()} ${readable}`.includes(token));

  const operations = (await servedOperations(service)).filter(({ isPublic }) => !isPublic);
  assert.ok(operations.length >= 50, `only ${operations.length} operations`);
  for (const { method, url } of operations) {
    const headers = { cookie, [csrfHeader]: '1', [projectHeader]: projectId };
    assert.equal((await fetch(url, { method, headers })).status, 401, `${method} ${url}`);
  }
  await openPage(opened, 'Overview');
  assert.deepEqual(opened.pageErrors, []);
});

test('[session] the settings list the sessions and end one of another browser, and all of them', async (t) => {
  const opened = await openConsole(t);
  const { page, service } = opened;
  const signIn = async (userAgent: string) => {
    const { headers } = await beginSession(service, { 'User-Agent': userAgent });
    return async () => (await fetch(`${service.filesUrl}/v1/session`, { headers })).status;
  };
  const phone = await signIn('a phone');
  const tablet = await signIn('<b>a tablet</b>');
  await page.goto(`${service.filesUrl}/settings`);
  const rows = page.getByRole('region', { name: 'Your sessions' }).getByRole('listitem');
  await rows.nth(2).waitFor();
  const count = page.getByRole('region', { name: 'Your sessions' }).getByText(/^\d+ items$/);
  assert.equal(await count.textContent(), '3 items');
  assert.deepEqual([await phone(), await tablet()], [200, 200]);
  const mine = rows.filter({ hasText: 'this browser' });
  assert.match((await mine.textContent()) ?? '', /Chrom/);
  assert.equal(await mine.getByRole('button').count(), 0);
  await rows.filter({ hasText: '<b>a tablet</b>' }).waitFor();
  const ofPhone = rows.filter({ hasText: 'a phone' });
  await ofPhone.getByRole('button', { name: 'End session' }).click();
  await page.getByText('Session ended.').waitFor();
  await ofPhone.waitFor({ state: 'detached' });
  assert.equal(await rows.count(), 2);
  assert.equal(await count.textContent(), '2 items');
  assert.deepEqual([await phone(), await tablet()], [401, 200]);
  assert.deepEqual(opened.pageErrors, []);

  // The page shows the sign-in form before the service has answered.
  const answered = page.waitForResponse((response) => response.request().method() === 'DELETE');
  await page.getByRole('button', { name: 'Sign out everywhere' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await answered;
  assert.equal(await tablet(), 401);
});

/** Records the API calls and their responses: method, path, status. */
function watchRequests(page: Page): string[] {
  const requests: string[] = [];
  page.on('response', (response) => {
    const { pathname } = new URL(response.url());
    // The form asks once for the identity provider, which needs no session.
    const isCall = /\/v1\/(?!sign_in$)|^\/metrics/.test(pathname);
    if (isCall) requests.push(`${response.request().method()} ${pathname} ${response.status()}`);
  });
  return requests;
}
