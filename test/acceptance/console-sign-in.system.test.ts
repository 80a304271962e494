import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findingsInBoth, nothing } from '../support/axe.ts';
import { openConsole } from '../support/console.ts';
import { findFreePort } from '../support/free-port.ts';
import { providerClient, startIdentityProvider } from '../support/identity-provider.ts';

test('[console] a person signs in at an identity provider and returns to the page, or reads why not', async (t) => {
  const port = await findFreePort();
  const redirectUris = [`http://127.0.0.1:${port}/sign-in/callback`];
  // Another site for the browser, so that it treats the cookies as those of another company's page.
  const provider = await startIdentityProvider(t, { redirectUris, host: 'localhost' });
  const opened = await openConsole(t, {
    settings: {
      FILES_PORT: String(port),
      EGRESS_ALLOW: '127.0.0.1',
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: providerClient.id,
      OIDC_CLIENT_SECRET: providerClient.secret,
      OIDC_ROLES_CLAIM: 'groups',
      OIDC_ROLES: 'staff=*:member',
    },
  });
  const { browser, service, pageErrors } = opened;
  const context = await browser.newContext({ locale: 'en-GB' });
  const page = await context.newPage();
  const urls: string[] = [];
  page.on('request', (request) => urls.push(request.url()));
  await page.goto(`${service.filesUrl}/collections?q=tea`);
  const enter = page.getByRole('link', { name: `Sign in with ${new URL(provider.issuer).host}` });
  await enter.waitFor();
  assert.deepEqual(await findingsInBoth(page), nothing);

  await enter.click();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('heading', { level: 1, name: 'You are not signed in' }).waitFor();
  await page.getByRole('alert').getByText('Your account has no access to this service').waitFor();
  await page.getByText(/^PERMISSION_DENIED · req_\w+$/).waitFor();
  assert.equal(page.url(), redirectUris[0], 'the code is not in the history');
  assert.deepEqual(await findingsInBoth(page), nothing);

  provider.person.claims = { groups: ['staff'], name: 'Grace Hopper' };
  await page.getByRole('link', { name: 'Back to sign-in' }).click();
  await page.goto(`${service.filesUrl}/collections?q=tea`);
  await enter.click();
  await page.getByRole('heading', { level: 1, name: 'Collections' }).waitFor();
  assert.equal(new URL(page.url()).pathname, '/collections');
  assert.equal(new URL(page.url()).searchParams.get('q'), 'tea');
  const token = await page.evaluate<string>("localStorage['quartermaster-console-token']");
  assert.match(token, /^[\w-]{43}$/);
  assert.ok(!urls.some((url) => url.includes(token)));
  const cookies = (await context.cookies()).filter(({ domain }) => domain === '127.0.0.1');
  assert.deepEqual(cookies.map(({ name, httpOnly, sameSite }) => `${name} ${httpOnly} ${sameSite}`).sort(), [
    'quartermaster_session true Strict',
  ]);
  assert.deepEqual(pageErrors, []);
});
