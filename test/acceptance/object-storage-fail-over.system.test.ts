import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import pg from 'pg';
import { launcherOf, startStorage } from '../support/object-storage.ts';
import { startPostgres, startStandby, type TestServer } from '../support/postgres.ts';
import { startService } from '../support/service.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

const keep = (t: TestContext, server: TestServer) => {
  t.after(() => server.stop());
  return server;
};

async function run(url: string, ...statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

const replicate = ["alter system set synchronous_standby_names = '*'", 'select pg_reload_conf()'];

test('[storage] after a fail-over to a synchronous standby, every acknowledged upload in object storage is readable', async (t) => {
  const { environment } = await startStorage(t);
  const primary = await startPostgres();
  const standby = keep(t, await startStandby(primary.url));
  await run(primary.url, ...replicate);
  const proxy = await startTcpProxy(primary.url);
  t.after(() => proxy.close());
  const settings = {
    BLOBS: 's3://store',
    DATABASE_URL: proxy.url(primary.url),
    DATABASE_DURABILITY: 'standby',
  };
  const service = await startService(t, { settings, launcher: launcherOf(environment) });
  const acknowledged = new Map<string, string>();
  let refused = 0;
  async function uploadUntil(isEnough: () => boolean): Promise<void> {
    while (!isEnough()) {
      const text = `tea ${acknowledged.size} ${refused}`;
      const content = new Blob([text]);
      await service.client.files.upload(content, { purpose: 'record_file', name: 'tea.txt' }).then(
        ({ file_id: id }) => acknowledged.set(id, text),
        (error: { readonly status?: number }) => {
          assert.equal(error.status, 503);
          refused += 1;
        },
      );
    }
  }
  const uploads = Array.from({ length: 4 }, () => uploadUntil(() => acknowledged.size >= 60));
  await uploadUntil(() => acknowledged.size >= 20);
  await primary.stop();
  await run(standby.url, 'select pg_promote()');
  keep(t, await startStandby(standby.url));
  await run(standby.url, ...replicate);
  proxy.leadTo(standby.url);
  await Promise.all(uploads);
  for (const [id, text] of acknowledged) assert.equal(await (await service.client.files.content(id)).text(), text);
  console.log(`# ${acknowledged.size} uploads acknowledged, ${refused} refused with 503, 0 lost`);
  assert.equal(await service.stop(), 0);
});
