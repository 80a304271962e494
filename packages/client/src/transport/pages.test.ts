import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { NotFoundError } from '../errors.ts';
import { Quartermaster } from '../quartermaster.ts';
import { json, refusal, startScriptedServer } from '../testing/scripted-server.ts';

test('a list gives one page when it is awaited, and all items when it is iterated', async (t) => {
  const page = (ids: string[], has_more: boolean) =>
    json({ status: 'success', data: ids.map((file_id) => ({ file_id })), fetched_count: ids.length, has_more });
  const { client, requests } = await startScriptedServer(t, page(['a', 'b'], true), page(['c'], true), page([], false));
  const list = client.files.list({ limit: 2, order: 'asc' });
  assert.equal((await list).has_more, true);
  const ids = [];
  for await (const { file_id } of list) ids.push(file_id);
  assert.deepEqual(ids, ['a', 'b', 'c']);
  assert.deepEqual(
    requests.map(({ url }) => url),
    ['', '&after=b', '&after=c'].map((after) => `/v1/files?limit=2&order=asc${after}`),
  );
});

test('only the first page of an iteration is counted', async (t) => {
  const page = (id: string, has_more: boolean) => json({ data: [{ file_id: id }], has_more, total_count: 2 });
  const { client, requests } = await startScriptedServer(t, page('a', true), page('b', false));
  assert.equal((await Array.fromAsync(client.files.list({ count: true }))).length, 2);
  assert.deepEqual(
    requests.map(({ url }) => url),
    ['/v1/files?count=true', '/v1/files?after=a'],
  );
});

test('a server that repeats its page or has no items ends the iteration', async (t) => {
  const again = await startScriptedServer(t, json({ data: [{ file_id: 'a' }], has_more: true }));
  await assert.rejects(Array.fromAsync(again.client.files.list()), /does not continue after a/);
  const empty = await startScriptedServer(t, json({ data: [], has_more: true }));
  assert.deepEqual(await Array.fromAsync(empty.client.files.list()), []);
  const none = await startScriptedServer(t, json({ data: {} }));
  await assert.rejects(Array.fromAsync(none.client.files.list()), { code: 'UNREADABLE_ANSWER' });
  const refused = await startScriptedServer(t, refusal(404, 'OBJECT_NOT_FOUND'));
  await assert.rejects(Array.fromAsync(refused.client.files.list()), NotFoundError);
});

test('a list cannot be iterated backwards', async (t) => {
  const { client } = await startScriptedServer(t, json({ data: [{ file_id: 'a' }], has_more: true }));
  const list = client.files.list({ before: 'z' });
  assert.equal((await list).data.length, 1);
  await assert.rejects(Array.fromAsync(list), /use `after` instead of `before`/);
});

test('an iteration over ten thousand pages holds only the current one in memory', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  let pages = 0;
  const client = new Quartermaster({
    baseUrl: 'http://files.test',
    fetch: async () => {
      pages += 1;
      return Response.json({ data: [{ file_id: `f${pages}` }], has_more: pages < 10_000 });
    },
  });
  const seen: WeakRef<object>[] = [];
  let items = 0;
  for await (const item of client.files.list()) {
    items += 1;
    if (items % 100 === 0) seen.push(new WeakRef(item));
    if (items < 10_000) continue;
    // A WeakRef holds its object until the end of the task.
    await new Promise((resolve) => setTimeout(resolve));
    collectGarbage();
    assert.ok(seen.filter((one) => one.deref() !== undefined).length <= 2);
  }
  assert.equal(items, 10_000);
});
