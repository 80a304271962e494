import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openConsole, openPage } from '../support/console.ts';
import { send, serve } from '../support/http.ts';
import { addDocument, askMcp } from '../support/mcp-knowledge.ts';
import { newPkce, postForm } from '../support/oauth.ts';

test('[console] a person allows an application less than it asks for, and signs it out', async (t) => {
  const opened = await openConsole(t);
  const { page, service, pageErrors } = opened;
  const callback = `${await serve(t, (_request, response) => response.end('done'))}/callback`;
  await addDocument(service, {
    name: 'red book',
    title: 'Red',
    content: 'Otters paint at noon.',
  });
  const registration = { redirect_uris: [callback], client_name: 'Otter <b>agent</b>' };
  const { body: client } = await send(`${service.filesUrl}/oauth/register`, { json: registration });
  const { verifier, challenge } = newPkce();
  const authorize = `${service.filesUrl}/oauth/authorize?${new URLSearchParams({
    ...{
      response_type: 'code',
      client_id: client.client_id,
      redirect_uri: callback,
      resource: `${service.filesUrl}/mcp`,
    },
    ...{ code_challenge: challenge, code_challenge_method: 'S256', scope: 'collections plugins', state: 's' },
  })}`;

  // A page of another site has no session cookie of the console; the page of consent asks for it itself.
  const response = await page.goto(authorize);
  assert.match(response?.headers()['content-security-policy'] ?? '', /frame-ancestors 'none'/);
  assert.equal(response?.headers()['x-frame-options'], 'DENY');
  await page.getByRole('heading', { level: 1, name: 'Allow an application access?' }).waitFor();
  await page.getByRole('heading', { level: 2, name: '“Otter <b>agent</b>”' }).waitFor();
  await page.getByText('Unverified application').waitFor();
  const collections = page.getByLabel('Collections', { exact: true });
  assert.equal(await collections.first().inputValue(), 'collections:read', 'reading is chosen first');
  await page.getByLabel('Plugins', { exact: true }).selectOption('No access');
  await page.getByLabel('Collections that it sees').selectOption('Only these collections');
  assert.ok(await page.getByRole('button', { name: 'Allow' }).isDisabled(), 'no collection is checked');
  await page.getByRole('checkbox', { name: 'red book' }).check();
  await page.getByRole('button', { name: 'Allow' }).click();
  await page.waitForURL((url) => url.href.startsWith(callback));
  const { searchParams } = new URL(page.url());
  assert.deepEqual([searchParams.get('state'), searchParams.get('iss')], ['s', service.filesUrl]);

  const grant = { grant_type: 'authorization_code', code: searchParams.get('code') ?? '', code_verifier: verifier };
  const tokens = await postForm(`${service.filesUrl}/oauth/token`, {
    ...grant,
    client_id: client.client_id,
    redirect_uri: callback,
  });
  assert.equal(tokens.body.scope, 'collections:read', tokens.text);
  const statusOf = async () => (await askMcp(`${service.filesUrl}/mcp`, tokens.body.access_token, 'tools/list')).status;
  assert.equal(await statusOf(), 200);

  await page.goto(service.filesUrl);
  await openPage(opened, 'Applications');
  await page.getByText('Reads and searches only these collections: red book.').waitFor();
  await page.getByRole('button', { name: 'Sign out application: “Otter' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out application' }).click();
  await page.getByText('No application is signed in').waitFor();
  const deadline = Date.now() + 2000;
  while ((await statusOf()) !== 401) assert.ok(Date.now() < deadline, 'the token is refused');

  await page.goto(authorize);
  await page.getByRole('button', { name: 'Refuse' }).click();
  await page.waitForURL((url) => url.searchParams.get('error') === 'access_denied');
  await page.goto(`${service.filesUrl}/oauth/requests/somebody-elses`);
  await page.getByText('This request has ended').waitFor();
  assert.deepEqual(
    pageErrors.filter((error) => !error.includes('404')),
    [],
  );
});
