import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../support/service.ts';

test('unknown names are ignored, and each wrong field of a body is reported, as the OpenAPI documents say', async (t) => {
  const { filesUrl, pluginsUrl, key } = await startService(t);
  const send = async (url: string, body: unknown) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    const answer = (await response.json()) as { error?: { message: string; details: { path: string }[] } };
    return {
      status: response.status,
      message: answer.error?.message,
      paths: answer.error?.details.map(({ path }) => path),
    };
  };
  const collections = `${filesUrl}/v1/collections`;
  assert.equal((await send(collections, { name: 'one', type: 'text', unknown: 1 })).status, 200);
  assert.equal((await fetch(`${collections}?unknown=1`, { headers: { authorization: `Bearer ${key}` } })).status, 200);
  const wrong = await send(collections, { name: 5, type: 'none', description: 7 });
  assert.deepEqual([wrong.status, wrong.paths], [422, ['body/name', 'body/description', 'body/type']]);
  const run = { bundle_id: 'calculator', plugin_id: 'evaluate', credentials: {} };
  const inputs = await send(`${pluginsUrl}/v1/execute`, {
    ...run,
    unknown: 1,
    input_params: { expression: 5, other: 1 },
  });
  assert.deepEqual([inputs.status, inputs.paths], [422, ['body/input_params/other', 'body/input_params/expression']]);
  assert.match(inputs.message ?? '', /^Unknown parameter "other"\./);
  for (const url of [filesUrl, pluginsUrl]) {
    const { info } = (await (await fetch(`${url}/openapi.json`)).json()) as { info: { description: string } };
    assert.match(info.description, /Unknown names at the top level of a body, in a form or in a query are ignored/);
    assert.match(info.description, /several fields of a JSON body are wrong or missing, `details` lists each of them/);
  }
});
