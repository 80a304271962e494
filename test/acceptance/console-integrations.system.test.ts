import assert from 'node:assert/strict';
import { test } from 'node:test';
import { packageOf } from '../../packages/server/src/tools/installation/testing/tarball.suite.ts';
import { findingsInBoth, nothing } from '../support/axe.ts';
import { type OpenedConsole, openConsole } from '../support/console.ts';
import { serve } from '../support/http.ts';

const secret = 'canary-key-of-leaves';

/** A piece with one input whose values it asks the third party for. */
const piece = `const ask = async (auth, path, body) => {
  const request = body === undefined ? {} : { method: 'POST', body };
  const answer = await fetch('https://tea.example.com' + path, { ...request, headers: { 'X-Key': auth.secret_text ?? auth } });
  return await answer.json();
};
exports.piece = {
  displayName: 'Tea', description: 'Brews tea.', getContextInfo: () => ({ version: '2' }),
  auth: { type: 'SECRET_TEXT', displayName: 'Key', description: 'The key.', required: true },
  _actions: { brew: { name: 'brew', displayName: 'Brew', description: 'Brew tea', requireAuth: true, classification: 'WRITE',
    props: { leaf: { type: 'DROPDOWN', displayName: 'Leaf', description: 'The leaf.', required: true, refreshers: ['auth'],
      options: async ({ auth }) => ({ disabled: false, options: await ask(auth, '/leaves') }) } },
    run: async ({ auth, propsValue }) => await ask(auth, '/brew', propsValue.leaf) } },
};`;

test('[console] an administrator plans and installs a piece, runs it with a value of the third party, and removes it', async (t) => {
  const received: string[] = [];
  const third = await serve(t, async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    received.push([request.method, request.url, request.headers['x-key'], body].join(' '));
    const leaves = [{ label: 'Green leaf', value: 'g7' }];
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify(body === '' ? leaves : { brewed: body }));
  });
  const overrides = JSON.stringify({ 'https://tea.example.com': third });
  const opened = await openConsole(t, { settings: { EGRESS_OVERRIDES: overrides } });
  await install(opened);
  await brew(opened);
  assert.ok(received.includes(`GET /leaves ${secret} `), received.join('\n'));
  assert.equal(received.at(-1), `POST /brew ${secret} g7`);
  await remove(opened);
  assert.deepEqual(opened.pageErrors, []);
  assert.deepEqual([...opened.origins], [opened.service.filesUrl]);
});

async function install({ page, service }: OpenedConsole): Promise<void> {
  await page.goto(`${service.filesUrl}/catalogue`);
  await page.getByRole('link', { name: 'Add integrations' }).click();
  await page.getByRole('heading', { level: 1, name: 'Add integrations' }).waitFor();
  const file = { name: 'piece-tea-1.0.0.tgz', mimeType: 'application/gzip', buffer: packageOf(piece) };
  await page.locator('input[type=file]').setInputFiles(file);
  await page.getByRole('button', { name: 'Show the plan' }).click();
  await page.getByRole('heading', { level: 2, name: 'Install: piece_tea' }).waitFor();
  for (const text of ['@activepieces/piece-tea 1.0.0', 'none stated', 'token (secret)', 'header:x-key', '1 action']) {
    await page.getByText(text, { exact: true }).waitFor();
  }
  await page.getByText(/^A hostile piece can misuse the account/).waitFor();
  assert.equal(await page.getByLabel('Gets the credential: tea.example.com').isChecked(), true);
  await page.getByRole('textbox', { name: 'Add a host' }).fill('leaf.example.com');
  await page.getByRole('button', { name: 'Add: Add a host' }).click();
  assert.equal(await page.getByLabel('Gets the credential: leaf.example.com').isChecked(), false);
  assert.deepEqual(await findingsInBoth(page), nothing, 'a plan');
  await page.getByRole('button', { name: 'Install', exact: true }).click();
  await page.getByText('piece_tea is installed').waitFor();
  await page.locator('[data-name=piece_tea]').getByText('tea.example.com, leaf.example.com').waitFor();
}

async function brew({ page, service }: OpenedConsole): Promise<void> {
  await page.goto(`${service.filesUrl}/catalogue?q=piece_tea`);
  await page.getByRole('link', { name: /^Brew/ }).click();
  await page.getByText('Package: @activepieces/piece-tea 1.0.0 · Places of the credential: header:x-key').waitFor();
  await page.getByText('Enter credentials to load the values of the third party.').waitFor();
  await page.getByLabel(/^token/).fill(secret);
  await page.getByText('1 value from the third party').waitFor();
  await page.locator('select', { hasText: 'Green leaf' }).selectOption('Green leaf');
  assert.deepEqual(await findingsInBoth(page), nothing, 'a form with values of the third party');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByTestId('result-tree').getByText('"g7"').waitFor();
}

async function remove({ page, service }: OpenedConsole): Promise<void> {
  await page.goto(`${service.filesUrl}/catalogue/add`);
  const card = page.locator('[data-name=piece_tea]');
  await card.getByRole('button', { name: 'Remove: piece_tea' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await card.waitFor({ state: 'detached' });
  await page.getByText('No packages installed yet').waitFor();
}
