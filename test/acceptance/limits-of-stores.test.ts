import { test } from 'node:test';
import { assertAccepted, assertRefused, json, limitedService } from '../support/limits.ts';

const limited = limitedService();

test('the limit keys_of_project accepts exactly as many usable keys and refuses one more', async () => {
  const row = limited.limit('keys_of_project');
  const { filesUrl } = limited.service;
  const { body } = await limited.send(`${filesUrl}/v1/projects`);
  const url = `${filesUrl}/v1/projects/${body.data[0].project_id}/keys`;
  const create = () => limited.send(url, json({ name: 'k', scopes: ['files'] }));
  // The first key of the installation counts.
  for (let count = 1; count < row.value; count += 1) assertAccepted(await create());
  assertRefused(row, await create());
});
