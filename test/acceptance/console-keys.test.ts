import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NewApiKey } from '@quartermaster/contract';
import { createKeyInConsole, openConsole, openPage } from '../support/console.ts';

test('[console] revoking a key that may create keys offers to revoke those as well', async (t) => {
  const opened = await openConsole(t);
  const { page, service, complaints } = opened;
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
  assert.deepEqual(complaints, []);
});
