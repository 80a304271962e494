import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import pg from 'pg';
import { startCuttingProxy } from '../support/cutting-proxy.ts';
import { createFailingSync } from '../support/failing-sync.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { type StartedService, startService, temporaryFolder } from '../support/service.ts';

/** Lets the commit of a file wait for a lock of the test, as if a standby were slow to confirm it. */
const waitingCommit = `
  create function wait_for_test() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock(22); return null; end $$;
  create constraint trigger waiting after insert on file deferrable initially deferred
    for each row execute function wait_for_test()`;

/** Starts a service that reaches its database through the proxy, and opens a separate connection for the test. */
async function startCut(t: TestContext) {
  const database = await createTestDatabase();
  const holder = new pg.Client(database.url);
  t.after(async () => {
    await holder.end();
    await database.drop();
  });
  const proxy = await startCuttingProxy(t, database.url);
  const service = await startService(t, { settings: { DATABASE_URL: proxy.url } });
  await holder.connect();
  return { proxy, service, holder };
}

async function upload(service: StartedService, content: string, key?: string, name = 'tea.txt'): Promise<Response> {
  const body = new FormData();
  body.set('purpose', 'record_file');
  body.set('file', new Blob([content]), name);
  return fetch(`${service.filesUrl}/v1/files`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${service.key}`, ...(key === undefined ? {} : { 'Idempotency-Key': key }) },
    body,
  });
}

async function readAll(service: StartedService): Promise<string[]> {
  const { data } = await service.client.files.list();
  return Promise.all(data.map(async ({ file_id: id }) => (await service.client.files.content(id)).text()));
}

async function idOf(answer: Response): Promise<string> {
  const body = (await answer.json()) as { data: { file_id: string } };
  return body.data.file_id;
}

test('[doubt] an upload that commits after the connection was cut is stored once, and a retry returns it', async (t) => {
  const { proxy, service, holder } = await startCut(t);
  await holder.query(waitingCommit);
  await holder.query('select pg_advisory_lock(22)');

  const cut = proxy.cutCommitAfter('insert into "file"');
  const first = await upload(service, 'Green tea.', 'order-1');
  await cut;
  assert.equal(first.status, 503);
  assert.equal(first.headers.get('retry-after'), '1');
  assert.deepEqual(await readAll(service), []);

  const retry = upload(service, 'Green tea.', 'order-1');
  await holder.query('select pg_advisory_unlock(22)');
  const answer = await retry;
  assert.equal(answer.status, 200);
  const { data } = await service.client.files.list();
  assert.deepEqual(
    data.map((file) => file.file_id),
    [await idOf(answer)],
  );
  assert.deepEqual(await readAll(service), ['Green tea.']);
  assert.equal((await upload(service, 'Green tea.')).status, 200);
  assert.deepEqual(await readAll(service), ['Green tea.', 'Green tea.']);
  assert.equal(await service.stop(), 0);
});

test('[doubt] an upload whose COMMIT never arrives is not stored, and a retry with its key stores it once', async (t) => {
  const { proxy, service, holder } = await startCut(t);
  // Refuses the COMMIT, as if the server had stopped before it.
  await holder.query(`
    create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
    create constraint trigger refusing after insert on file deferrable initially deferred
      for each row execute function refuse()`);
  const cut = proxy.cutCommitAfter('insert into "file"');
  assert.equal((await upload(service, 'Black tea.', 'order-2')).status, 503);
  await cut;
  await holder.query('drop trigger refusing on file');
  for (;;) {
    const answer = await upload(service, 'Black tea.', 'order-2');
    if (answer.status === 200) break;
    // 409 while the first request still looks for its row, 503 while the database cannot tell.
    assert.ok(
      [409, 503].includes(answer.status),
      `the key is taken as long as the first request is in doubt: ${answer.status}`,
    );
    assert.equal(answer.headers.get('retry-after'), '1');
  }
  assert.deepEqual(await readAll(service), ['Black tea.']);
  assert.equal(await service.stop(), 0);
});

test('[doubt] after a failed sync of the SQLite log the process exits with 70 and one log line, and the next start recovers', async (t) => {
  const folder = await temporaryFolder(t);
  const disk = await createFailingSync(t, 'quartermaster.db-wal');
  const service = await startService(t, { folder, launcher: disk.launcher });
  assert.equal((await upload(service, 'first')).status, 200);
  const ended = once(service.process, 'close');
  // The row of the file holds its name: a commit of background work does not fail.
  await disk.failNext('doubtful.txt');
  // Sends only one upload. With two, the bytes of the second could still be in transit when the commit of the first
  // fails.
  const [doubtful] = await Promise.allSettled([upload(service, 'doubtful', undefined, 'doubtful.txt')]);
  const [code] = await ended;
  assert.ok(doubtful.status === 'rejected' || doubtful.value.status === 503, 'never acknowledged');
  assert.equal(code, 70);
  const lines = service.log().trim().split('\n');
  assert.match(lines.at(-1) ?? '', /"level":"fatal".*database sync failed/);
  const isOther = (line: string) => line.includes('"level":"info"') || line.includes('service started as root');
  assert.equal(lines.filter((line) => !isOther(line)).length, 1, service.log());
  const blobs = (await readdir(join(folder, 'blobs'), { recursive: true })).filter((name) => name.includes('blob'));
  assert.equal(blobs.length, 2, 'the bytes of both uploads stay');

  const again = await startService(t, { folder, key: service.key });
  const files = await readAll(again);
  assert.ok(files.includes('first'), files.join());
  const id = await idOf(await upload(again, 'doubtful'));
  assert.equal(await (await again.client.files.content(id)).text(), 'doubtful');
  assert.equal(await again.stop(), 0);
});
