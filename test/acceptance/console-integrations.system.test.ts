import assert from 'node:assert/strict';
import { test } from 'node:test';
import { packFiles } from '../../packages/server/src/tools/installation/pack-files.ts';
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
  // The shape of the answer is from https://github.com/npm/registry/blob/main/docs/REGISTRY-API.md#get-v1search.
  const pot = { name: '@acme/piece-teapot', version: '2.1.0', description: 'Pours tea.' };
  const registry = await serve(t, (request, response) => {
    const isSearch = request.url?.startsWith('/-/v1/search?') === true && request.url.includes('teapot');
    response.writeHead(isSearch ? 200 : 404).end(JSON.stringify({ objects: [{ package: pot }] }));
  });
  const overrides = JSON.stringify({ 'https://tea.example.com': third });
  const opened = await openConsole(t, { settings: { EGRESS_OVERRIDES: overrides, PACKAGE_REGISTRY: registry } });
  await find(opened);
  await install(opened);
  await brew(opened);
  assert.ok(received.includes(`GET /leaves ${secret} `), received.join('\n'));
  assert.equal(received.at(-1), `POST /brew ${secret} g7`);
  await remove(opened);
  assert.deepEqual(opened.pageErrors, []);
  assert.deepEqual([...opened.origins], [opened.service.filesUrl]);
});

/** Longer than the JSON bodies of other routes. */
const filler = 'A long text. '.repeat(120_000);
const api = {
  openapi: '3.1.0',
  info: { title: 'Leaves', version: '1.0.0', description: filler },
  servers: [{ url: 'https://sandbox.things.dev' }],
  paths: {
    '/leaves': {
      get: {
        ...{ operationId: 'listLeaves', summary: 'List leaves', tags: ['Fresh leaves'] },
        responses: { 200: { description: 'Leaves.' } },
      },
      delete: { operationId: 'dropLeaves', responses: { 200: { description: 'Gone.' } } },
    },
    '/raw': { trace: { responses: {} } },
  },
};

test('[console] an administrator plans and installs the document of an API, and an archive after accepting its publisher', async (t) => {
  const opened = await openConsole(t);
  const { page, service } = opened;
  await page.goto(`${service.filesUrl}/catalogue/add`);
  const choose = async (kind: string, name: string, buffer: Buffer) => {
    await page.getByLabel('What to add').selectOption(kind);
    assert.deepEqual(await findingsInBoth(page), nothing, kind);
    await page.locator('input[type=file]').setInputFiles({ name, mimeType: 'application/octet-stream', buffer });
    await page.getByRole('button', { name: 'Show the plan' }).click();
  };
  await page.getByLabel('What to add').selectOption('openapi');
  await page.getByLabel('Recipe').selectOption('zendesk');
  await page.getByLabel(/^Server:/).fill('https://leaves.zendesk.com');
  await choose('openapi', 'leaves.json', Buffer.from(JSON.stringify(api)));
  await page.getByText(/The recipe is for the document "Support API"/).waitFor();
  await page.getByLabel('Recipe').selectOption('');
  await page.getByLabel(/^Server:/).fill('');
  await page.getByRole('button', { name: 'Show the plan' }).click();
  await page.getByText(/only servers for tests: https:\/\/sandbox\.things\.dev; enter the server/).waitFor();
  await page.getByLabel(/^Server:/).fill('https://leaves.things.dev');
  await page.getByLabel(/with these tags/).fill('Fresh leaves');
  await page.getByRole('button', { name: 'Show the plan' }).click();
  await page.getByRole('heading', { level: 2, name: 'Install: leaves' }).waitFor();
  for (const text of ['leaves.things.dev 1.0.0', '1 of 3 actions are imported.', '1 action'])
    await page.getByText(text, { exact: true }).waitFor();
  await page.getByText(/^The bundle has no code/).waitFor();
  assert.equal(await page.getByLabel('Add a host').count(), 0);
  await page.getByRole('button', { name: 'Install', exact: true }).click();
  await page.getByText('leaves is installed').waitFor();
  await page.locator('[data-name=leaves]').getByRole('button', { name: 'Update: leaves' }).click();
  await page.getByRole('heading', { level: 2, name: 'API (OpenAPI document)' }).waitFor();
  assert.equal(await page.getByLabel('Id of the bundle').inputValue(), 'leaves');

  const manifest = {
    id: 'herbs',
    version: '1.0.0',
    name: 'Herbs',
    description: 'Herbs.',
    provider: 'a',
    developer: 'a',
  };
  const plugin = { id: 'pick', name: 'Pick', description: 'Picks.', effects: 'read', idempotent: true };
  const schemas = {
    input_schema: { type: 'object', properties: {} },
    output_schema: { type: 'object', properties: {} },
  };
  const request = { url: 'https://herbs.example.com/' };
  const files = {
    'bundle.yaml': { ...manifest, hosts: ['herbs.example.com'] },
    'pick.yaml': { ...plugin, ...schemas, request },
  };
  const entries = Object.entries(files).map(([path, value]) => [path, Buffer.from(JSON.stringify(value))] as const);
  await choose('archive', 'herbs.qmb', packFiles(new Map(entries)));
  await page.getByText('This archive is not signed. No publisher vouches for it.', { exact: true }).first().waitFor();
  assert.deepEqual(await findingsInBoth(page), nothing, 'an unsigned archive');
  await page.getByLabel('I know where this archive comes from').check();
  await page.getByRole('button', { name: 'Install', exact: true }).click();
  await page.getByText('herbs is installed').waitFor();
  await page.getByLabel('What to add').selectOption('mcp');
  await page.getByLabel('The server requires').selectOption('header');
  assert.deepEqual(await findingsInBoth(page), nothing, 'an MCP server');
  assert.deepEqual(opened.pageErrors, []);
  assert.deepEqual([...opened.origins], [opened.service.filesUrl]);
});

test('[console] the page of a bundle connects accounts to it, says why one is broken, and disconnects it', async (t) => {
  const opened = await openConsole(t, { settings: { SEALING_KEY: Buffer.alloc(32, 7).toString('base64url') } });
  const { page, service } = opened;
  await page.goto(`${service.filesUrl}/catalogue?q=open_weather`);
  await page.getByRole('link', { name: 'OpenWeather', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'OpenWeather' }).waitFor();
  const section = page.getByRole('region', { name: 'Connections of end users' });
  await section.getByRole('button', { name: 'Connect an account' }).click();
  const dialog = page.getByRole('dialog');
  assert.equal(await dialog.getByLabel('Bundle').count(), 0, 'the bundle is chosen');
  await dialog.getByLabel('End user').fill('user-43');
  await dialog.getByRole('button', { name: 'Connect an account' }).click();
  await dialog.getByRole('link', { name: 'Open the page to connect' }).waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await section.getByText('not connected yet').waitFor();
  // As if the provider had ended the access.
  const isOfBundle = ({ pathname, search }: URL) =>
    pathname.endsWith('/connections') && search.includes('=open_weather');
  await page.route(isOfBundle, async (route) => {
    const response = await route.fetch();
    const body = (await response.text()).replace('"pending","reason":null', '"reconnect_required","reason":"refused"');
    await route.fulfill({ response, body });
  });
  await page.reload();
  await section.getByText('must be connected again (the provider or the person ended the access)').waitFor();
  assert.deepEqual(await findingsInBoth(page), nothing, 'a bundle with a broken connection');
  await page.unroute(isOfBundle);
  await section.getByRole('button', { name: /^Disconnect/ }).click();
  await dialog.getByRole('button', { name: 'Disconnect' }).click();
  await section.getByText('No connections yet', { exact: false }).waitFor();
  assert.deepEqual(opened.pageErrors, []);
});

async function find({ page, service }: OpenedConsole): Promise<void> {
  await page.goto(`${service.filesUrl}/catalogue/add`);
  const search = page.getByRole('button', { name: 'Search the registry' });
  const name = page.getByRole('textbox', { name: 'Name', exact: true });
  await name.fill('coffee');
  await search.click();
  await page.getByText(/has no search, and no package @activepieces\/piece-coffee\. Type the full name/).waitFor();
  await name.fill('teapot');
  await search.click();
  await page.getByText('Packages found: 1', { exact: true }).waitFor();
  await page.getByText('Pours tea.', { exact: true }).waitFor();
  assert.deepEqual(await findingsInBoth(page), nothing, 'packages that were found');
  await page.getByRole('button', { name: 'Choose: @acme/piece-teapot' }).click();
  assert.equal(await name.inputValue(), '@acme/piece-teapot');
}

async function install({ page, service }: OpenedConsole): Promise<void> {
  await page.goto(`${service.filesUrl}/catalogue`);
  await page.getByText('Arithmetic', { exact: true }).first().waitFor();
  await page.getByLabel('Category').selectOption('Communication');
  await page.getByText('Slack', { exact: true }).waitFor();
  assert.equal(await page.getByText('Arithmetic', { exact: true }).count(), 0);
  assert.deepEqual(await findingsInBoth(page), nothing, 'a category of the catalogue');
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
  await page.getByRole('textbox', { name: 'Add a host' }).fill('https://leaf.example.com/v1');
  await page.getByRole('button', { name: 'Add: Add a host' }).click();
  await page.getByText('Enter a new host by its name, such as api.example.com, without https:// and').waitFor();
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
  await page.getByText('The service sends them only to: tea.example.com', { exact: true }).waitFor();
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
  await card.getByText('none stated', { exact: true }).waitFor();
  await page.evaluate("localStorage.setItem('quartermaster-language', 'zh')");
  await page.reload();
  await card.getByText('未说明', { exact: true }).waitFor();
  await page.evaluate("localStorage.setItem('quartermaster-language', 'en')");
  await page.reload();
  await card.getByRole('button', { name: 'Remove: piece_tea' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await card.waitFor({ state: 'detached' });
  await page.getByText('No packages installed yet').waitFor();
}
