import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { startPostgres, startStandby, type TestServer } from '../../test/support/postgres.ts';
import type { Endings } from '../support/endings.ts';

/** PostgreSQL with a synchronous standby: each commit is on two servers before it is acknowledged. */
export interface Pair {
  /** The URL of the server that accepts writes. */
  url(): string;
  /** Kills the server, promotes its standby and gives that a new standby. */
  failOver(): Promise<void>;
}

/** @param onMove receives the URL of a promoted standby */
export async function startPair(endings: Endings, onMove: (url: string) => void): Promise<Pair> {
  const add = (server: TestServer) => {
    endings.after(() => server.stop());
    return server;
  };
  let primary = add(await startPostgres());
  // The standbys copy this setting, so each waits for a standby of its own once it is promoted.
  await send(primary.url, "alter system set synchronous_standby_names = 'walreceiver'", 'select pg_reload_conf()');
  let standby = add(await startStandby(primary.url));
  await untilStreaming(primary.url);
  return {
    url: () => primary.url,
    async failOver() {
      const failed = primary;
      const [pid] = (await readFile(join(failed.folder, 'data/postmaster.pid'), 'utf8')).split('\n');
      process.kill(Number(pid), 'SIGQUIT');
      await failed.stop();
      await send(standby.url, 'select pg_promote()');
      primary = standby;
      onMove(primary.url);
      standby = add(await startStandby(primary.url));
      await untilStreaming(primary.url);
    },
  };
}

async function send(url: string, ...statements: readonly string[]) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    let last: pg.QueryResult | undefined;
    for (const statement of statements) last = await client.query(statement);
    return last?.rows ?? [];
  } finally {
    await client.end();
  }
}

async function untilStreaming(url: string): Promise<void> {
  const wanted = "select from pg_stat_replication where state = 'streaming' and sync_state = 'sync'";
  for (const latest = performance.now() + 60_000; (await send(url, wanted)).length === 0; await pause(50)) {
    if (performance.now() > latest) throw new Error('The standby does not follow its server.');
  }
}
