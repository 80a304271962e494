import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccepted, assertRefused, json, limitedService } from '../support/limits.ts';

const limited = limitedService({
  settings: { MAX_RECORDS: '2', MAX_FILES: '3' },
});

test('the limit keys_of_project accepts exactly as many usable keys and refuses one more', async () => {
  const row = { value: 1000, status: 429, code: 'RESOURCE_LIMIT_REACHED' };
  const { filesUrl } = limited.service;
  const { body } = await limited.send(`${filesUrl}/v1/projects`);
  const url = `${filesUrl}/v1/projects/${body.data[0].project_id}/keys`;
  const create = () => limited.send(url, json({ name: 'k', scopes: ['files'] }));
  // The first key of the installation also counts.
  for (let count = 1; count < row.value; count += 1) assertAccepted(await create());
  assertRefused(row, await create());
});

test('the limit records_of_collection is that of the setting: one more record is refused', async () => {
  const row = limited.limit('records_of_collection');
  assert.equal(row.value, 2);
  const { body } = await limited.send(`${limited.service.filesUrl}/v1/collections`, json({}));
  const url = `${limited.service.filesUrl}/v1/collections/${body.data.collection_id}/records`;
  const create = () => limited.send(url, json({ content: 'text' }));
  for (let count = 1; count <= row.value; count += 1) assertAccepted(await create());
  assertRefused(row, await create());
  const { message } = await limited.send(`${limited.service.filesUrl}/metrics`);
  assert.match(message, /^quartermaster_limit_exceeded_total\{limit="records_of_collection"\} 1$/m);
});

test('the limit files_of_project accepts exactly as many files, empty ones too, and refuses one more', async () => {
  const row = limited.limit('files_of_project');
  assert.equal(row.value, 3);
  const url = `${limited.service.filesUrl}/v1/files`;
  const upload = () => {
    const body = new FormData();
    body.set('purpose', 'record_file');
    body.set('file', new File([''], 'empty.txt'));
    return limited.send(url, { method: 'POST', body });
  };
  const first = await upload();
  assertAccepted(first);
  for (let count = 2; count <= row.value; count += 1) assertAccepted(await upload());
  assertRefused(row, await upload());
  assertAccepted(await limited.send(`${url}/${first.body.data.file_id}`, { method: 'DELETE' }));
  assertAccepted(await upload());
  assertRefused(row, await upload());
});
