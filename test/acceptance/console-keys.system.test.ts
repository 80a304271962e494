import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NewApiKey } from '@quartermaster/contract';
import { findingsInBoth, nothing } from '../support/axe.ts';
import { createKeyInConsole, openConsole, openPage } from '../support/console.ts';
import { share } from '../support/service.ts';

const shared = share(openConsole);

/** Returns the console that all tests share, loaded again in English. */
async function openAgain() {
  const opened = await shared();
  await opened.page.evaluate("localStorage.removeItem('quartermaster-language')");
  await opened.page.goto(opened.service.filesUrl);
  return opened;
}

test('[console] revoking a key that may create keys offers to revoke those as well', async () => {
  const opened = await openAgain();
  const { page, service, pageErrors } = opened;
  const ask = (key: string, path: string, body?: object) =>
    fetch(service.filesUrl + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const statusOf = async (key: string) => (await ask(key, '/v1/files')).status;
  const [together, alone] = [await createKeyInConsole(opened, 'together'), await createKeyInConsole(opened, 'alone')];
  const { data: projects } = (await (await ask(together, '/v1/projects')).json()) as { data: [{ project_id: string }] };
  const createBy = async (maker: string, name: string) => {
    const answer = await ask(maker, `/v1/projects/${projects[0].project_id}/keys`, { name, scopes: ['files'] });
    return ((await answer.json()) as { data: NewApiKey }).data.key;
  };
  const [ended, staying] = [await createBy(together, 'ended'), await createBy(alone, 'staying')];

  await openPage(opened, 'Files');
  await openPage(opened, 'Project settings');
  const dialog = page.getByRole('dialog');
  const box = dialog.getByRole('checkbox', { name: 'Also revoke the keys that this key created' });
  const begin = (name: string) => page.locator(`[data-name="${name}"]`).getByRole('button', { name: 'Revoke' }).click();
  const finish = async (name: string) => {
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await page.locator(`[data-name="${name}"]`).getByText('Revoked').waitFor();
  };
  await begin('together');
  assert.ok(await box.isChecked());
  await finish('together');
  await page.locator('[data-name="ended"]').getByText('Revoked').waitFor();
  await begin('alone');
  await box.uncheck();
  await finish('alone');
  assert.deepEqual(await Promise.all([together, ended, alone, staying].map(statusOf)), [401, 401, 401, 200]);

  await begin('staying');
  await dialog.getByRole('button', { name: 'Revoke' }).waitFor();
  assert.equal(await box.count(), 0, 'a key without the scope admin creates none');
  assert.deepEqual(pageErrors, []);
});

test('[console] a key can be limited to bundles and plugins, and the list of keys shows the limit in both languages', async () => {
  const opened = await openAgain();
  const { page, service, pageErrors } = opened;
  await openPage(opened, 'Project settings');
  await page.getByRole('button', { name: 'Create key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('limited');
  await dialog.getByLabel('What the key is for').selectOption('Something else');
  const limit = dialog.getByLabel('Plugins that the key runs');
  assert.equal(await limit.count(), 0, 'a key without the scope plugins runs none');
  await dialog.getByRole('checkbox', { name: /^plugins: / }).check();
  await limit.selectOption('Only these bundles and plugins');
  await dialog.getByRole('button', { name: 'Create key' }).click();
  await dialog.getByText('Select at least one bundle or plugin.').waitFor();

  const search = dialog.getByLabel('Find bundles and plugins');
  await search.fill('calculator');
  await dialog.getByRole('checkbox', { name: '(calculator)' }).check();
  await search.fill('convert a time to another zone');
  await dialog.getByRole('checkbox', { name: '(time/convert_time)' }).check();
  assert.ok(await dialog.getByRole('checkbox', { name: '(calculator)' }).isChecked(), 'a chosen bundle stays');
  await dialog.getByRole('button', { name: 'Create key' }).click();
  const key = (await page.getByTestId('created-key').textContent())?.trim() ?? '';
  const sentence = 'Runs only these plugins, also if they change or delete something: calculator, time/convert_time.';
  await dialog.getByText(sentence).waitFor();
  await page.getByRole('button', { name: 'I copied the key' }).click();

  const run = async (bundle_id: string, plugin_id: string, input_params: object) => {
    const answer = await fetch(`${service.filesUrl}/plugins/v1/execute`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ bundle_id, plugin_id, input_params, credentials: {} }),
    });
    return answer.status;
  };
  assert.equal(await run('calculator', 'evaluate', { expression: '6*7' }), 200);
  assert.equal(await run('time', 'list_timezones', {}), 404);

  const row = page.locator('[data-name="limited"]');
  await row.getByText(sentence).waitFor();
  await page.getByRole('button', { name: '中文' }).click();
  await row.getByText('只能运行以下插件，包括会更改或删除内容的插件：calculator, time/convert_time。').waitFor();
  await page.getByRole('button', { name: '创建密钥' }).click();
  await dialog.getByLabel('密钥的用途').selectOption('其他用途');
  await dialog.getByRole('checkbox', { name: /^plugins：/ }).check();
  await dialog.getByLabel('密钥可以运行的插件').selectOption('仅限以下插件包和插件');
  await dialog.getByLabel('查找插件包和插件').fill('二维码');
  await dialog.getByRole('checkbox', { name: '(qr_code_generator/generate_qr_code)' }).waitFor();
  assert.deepEqual(pageErrors, []);
});

test('[console] a project is deleted after its name is typed, and the settings show the report', async () => {
  const opened = await openAgain();
  const { page, pageErrors } = opened;
  await openPage(opened, 'Project settings');
  const erase = page.getByRole('button', { name: 'Delete project' });
  assert.equal(await erase.count(), 0, 'the only project stays');
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'New project' }).click();
  await dialog.getByLabel('Project name').fill('short-lived');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await page.getByText('short-lived ·').waitFor();
  assert.deepEqual(await findingsInBoth(page), nothing);

  await erase.click();
  const confirm = dialog.getByRole('button', { name: 'Delete project' });
  await dialog.getByLabel('Type the name').fill('short');
  assert.ok(await confirm.isDisabled());
  await dialog.getByLabel('Type the name').fill('short-lived');
  await confirm.click();
  const row = page.getByRole('region', { name: 'Deleted projects' }).locator('[data-name="short-lived"]');
  await row.getByText('Deleted: 0 files').waitFor();
  await row.getByText('being deleted').waitFor({ state: 'detached' });
  await page.getByText('default ·').waitFor();
  assert.equal(await erase.count(), 0);
  assert.deepEqual(pageErrors, []);
});

test('[console] a key for an agent reads the chosen collections and nothing else, and the form says so', async () => {
  const opened = await openAgain();
  const { page, service, pageErrors } = opened;
  const { collection_id: handbook } = await service.client.collections.create({ name: 'handbook' });
  await service.client.collections.create({ name: 'salaries' });
  await openPage(opened, 'Project settings');
  await page.getByRole('button', { name: 'Create key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('agent');
  await dialog.getByRole('button', { name: 'Create key' }).click();
  await dialog.getByText('Select at least one collection.').waitFor();
  await dialog.getByLabel('Find collections').fill('hand');
  await dialog.getByRole('checkbox', { name: /^handbook/ }).check();
  const sentence = 'Reads and searches only these collections: handbook.';
  await dialog.getByText(sentence).waitFor();
  await dialog.getByRole('button', { name: 'Create key' }).click();
  const key = (await page.getByTestId('created-key').textContent())?.trim() ?? '';
  await dialog.getByText(sentence).waitFor();
  await page.getByRole('button', { name: 'I copied the key' }).click();
  await page.locator('[data-name="agent"]').getByText(sentence).waitFor();
  const ask = (path: string, method = 'GET') =>
    fetch(service.filesUrl + path, { method, headers: { Authorization: `Bearer ${key}` } });
  const { data } = (await (await ask('/v1/collections')).json()) as { data: Array<{ collection_id: string }> };
  assert.deepEqual(
    data.map((one) => one.collection_id),
    [handbook],
  );
  assert.equal((await ask(`/v1/collections/${handbook}`, 'DELETE')).status, 403);
  assert.equal((await ask('/plugins/v1/bundles')).status, 403);
  assert.deepEqual(pageErrors, []);
});

test('[console] a rate limit of a key is created, shown and deleted', async () => {
  const opened = await openAgain();
  const { page, service, pageErrors } = opened;
  const key = await createKeyInConsole(opened, 'looping');
  const statusOf = async () =>
    (await fetch(`${service.filesUrl}/v1/key`, { headers: { Authorization: `Bearer ${key}` } })).status;
  await openPage(opened, 'Files');
  await openPage(opened, 'Project settings');
  const section = page.getByRole('region', { name: 'Rate limits' });
  await section.getByText('This project has no rate limits.').waitFor();
  await section.getByRole('button', { name: 'Create rate limit' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Who is limited').selectOption('looping');
  await dialog.getByLabel('Bundle or plugin').fill('No Tool');
  await dialog.getByLabel('Per day').fill('2');
  await dialog.getByRole('button', { name: 'Create rate limit' }).click();
  await dialog.locator('[data-error], [class*=error]').first().waitFor();
  await dialog.getByLabel('Bundle or plugin').fill('');
  await dialog.getByRole('button', { name: 'Create rate limit' }).click();
  await section.getByText('looping').waitFor();
  await section.getByText('Requests: 2 per day').waitFor();
  assert.deepEqual([await statusOf(), await statusOf(), await statusOf()], [200, 200, 429]);
  await section.getByRole('button', { name: 'Delete: Rate limits, looping' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await section.getByText('This project has no rate limits.').waitFor();
  assert.equal(await statusOf(), 200);
  assert.deepEqual(pageErrors, []);
});
