import { execFile, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chown, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { findFreePort } from './free-port.ts';
import type { Ending } from './service.ts';
import { findPostgres, requireTools, toolsNamed } from './system-tools.ts';

const run = promisify(execFile);
/** Milliseconds that a server may take to start on a busy machine. */
const startTimeout = 60_000;

export interface TestServer {
  /** The URL for the superuser and the database `postgres`. */
  readonly url: string;
  /** Holds the folder `data` of the server. */
  readonly folder: string;
  stop(): Promise<void>;
}

/**
 * Starts a separate PostgreSQL server with its data in a temporary folder. The server and its folder are removed by
 * `stop()` or when this process ends, even if it is killed. `library` is loaded at its start.
 */
export async function startPostgres(library = ''): Promise<TestServer> {
  const programs = await postgresPrograms();
  const user = await findServerUser();
  const folder = await mkdtemp(path.join(tmpdir(), 'quartermaster-postgres-'));
  try {
    if (user !== undefined) await chown(folder, user.uid, user.gid);
    const data = path.join(folder, 'data');
    await run(path.join(programs, 'initdb'), [...clusterOptions, data], { cwd: folder, ...user });
    return await startServer({ programs, folder, user, library });
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Starts a read-only hot standby of the server at this URL. */
export async function startStandby(primary: string): Promise<TestServer> {
  const programs = await postgresPrograms();
  const user = await findServerUser();
  const folder = await mkdtemp(path.join(tmpdir(), 'quartermaster-standby-'));
  try {
    if (user !== undefined) await chown(folder, user.uid, user.gid);
    const options = ['--write-recovery-conf', '--checkpoint=fast', '--no-sync', `--dbname=${primary}`];
    await run(path.join(programs, 'pg_basebackup'), [...options, `--pgdata=${path.join(folder, 'data')}`], {
      cwd: folder,
      ...user,
    });
    return await startServer({ programs, folder, user });
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Uses a locale that sorts like people do, so that queries must request byte order explicitly. */
const clusterOptions = [
  ...['--username=postgres', '--auth=trust', '--no-sync'],
  ...['--encoding=UTF8', '--locale=C', '--locale-provider=icu', '--icu-locale=en'],
];

interface ServerUser {
  readonly uid: number;
  readonly gid: number;
}
interface Start {
  readonly programs: string;
  readonly folder: string;
  readonly user: ServerUser | undefined;
  readonly library?: string;
}

/**
 * Supervises the server. Its standard input closes when this process ends, even if it is killed. It then stops the
 * server and removes the folder.
 */
const supervisor = `
"$1/postgres" -D "$2/data" -p "$3" -c listen_addresses=127.0.0.1 -c unix_socket_directories="$2" -c shared_preload_libraries="$4" >"$2/log" 2>&1 </dev/null &
server=$!
read -r end
kill -INT $server
wait $server
rm -rf "$2"`;

async function startServer({ programs, folder, user, library = '' }: Start): Promise<TestServer> {
  const port = await findFreePort();
  const child = spawn('/bin/sh', ['-c', supervisor, 'sh', programs, folder, String(port), library], {
    cwd: folder,
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    ...user,
  });
  const exited = once(child, 'exit');
  child.unref();
  const stop = async () => {
    child.ref();
    child.stdin.end();
    await exited;
  };
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  try {
    await waitUntilReady(url);
  } catch (error) {
    const log = await readFile(path.join(folder, 'log'), 'utf8').catch(() => '');
    await stop();
    throw new Error(`PostgreSQL did not start: ${log}`, { cause: error });
  }
  return { url, folder, stop };
}

async function waitUntilReady(url: string): Promise<void> {
  const givenUpAt = Date.now() + startTimeout;
  for (;;) {
    try {
      return await withClient(url, async () => {});
    } catch (error) {
      if (Date.now() > givenUpAt) throw error;
      await pause(25);
    }
  }
}

async function withClient<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

/** Returns the folder of PostgreSQL's programs. Installs them where that is allowed. */
export async function postgresPrograms(): Promise<string> {
  requireTools(toolsNamed('postgresql'));
  return findPostgres() ?? '';
}

/** Returns the user of the server. PostgreSQL refuses to run as root; its package creates the user `postgres`. */
export async function findServerUser(): Promise<ServerUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const [uid, gid] = await Promise.all(['-u', '-g'].map((what) => run('id', [what, 'postgres'])));
  return { uid: Number(uid?.stdout), gid: Number(gid?.stdout) };
}

let ours: Promise<TestServer> | undefined;

/** Returns the server in `QUARTERMASTER_TEST_POSTGRES`, which a whole run shares, or one of this process. */
export async function postgresUrl(): Promise<string> {
  const configured = process.env.QUARTERMASTER_TEST_POSTGRES;
  if (configured !== undefined) return configured;
  ours ??= startPostgres();
  return (await ours).url;
}

export interface TestDatabase {
  readonly url: string;
  /**
   * Disconnects all clients and deletes the database. Also stops the server if this process started it for its tests.
   */
  drop(): Promise<void>;
}

let open = 0;

/**
 * Creates a fresh database for one test file. It is empty, or a copy of the database that `prepare` prepared once for
 * this run.
 */
export async function createTestDatabase(prepare?: (url: string) => Promise<void>): Promise<TestDatabase> {
  const server = await postgresUrl();
  const isShared = process.env.QUARTERMASTER_TEST_SHARED !== undefined;
  const template = prepare !== undefined && isShared ? await provideTemplate(server, prepare) : 'template1';
  return copyDatabase(server, template);
}

/** Creates an empty database that is deleted with the test. Returns its URL. */
export async function databaseFor(t: Ending): Promise<string> {
  const { url, drop } = await createTestDatabase();
  t.after(drop);
  return url;
}

/** Creates a copy of a database. The server waits up to five seconds for its clients to disconnect. */
export async function copyTestDatabase({ url }: TestDatabase): Promise<TestDatabase> {
  return copyDatabase(await postgresUrl(), new URL(url).pathname.slice(1));
}

async function copyDatabase(server: string, template: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await withClient(server, (client) => client.query(`create database ${name} template ${template}`));
  open += 1;
  const url = new URL(server);
  url.pathname = name;
  return {
    url: url.href,
    async drop() {
      await withClient(server, (client) => client.query(`drop database ${name} with (force)`));
      open -= 1;
      if (open === 0 && ours !== undefined) {
        const started = ours;
        ours = undefined;
        await (await started).stop();
      }
    },
  };
}

/** Prepares the database that others are copied from, unless another test file of this run has done it. @returns its name */
async function provideTemplate(server: string, prepare: (url: string) => Promise<void>): Promise<string> {
  const name = `prepared_${createHash('sha256').update(prepare.toString()).digest('hex').slice(0, 16)}`;
  await withClient(server, async (client) => {
    // The lock is released when the client disconnects.
    await client.query('select pg_advisory_lock(1)');
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name]);
    if (rowCount === 1) return;
    const draft = new URL(server);
    draft.pathname = `test_${randomBytes(8).toString('hex')}`;
    await client.query(`create database ${draft.pathname.slice(1)}`);
    await prepare(draft.href);
    await client.query(`alter database ${draft.pathname.slice(1)} rename to ${name}`);
  });
  return name;
}
