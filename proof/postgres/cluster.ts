import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, lstatSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { postgresPrograms } from '../../test/support/postgres.ts';
import type { Endings } from '../support/endings.ts';

const run = promisify(execFile);

/** A PostgreSQL server on a given folder. */
export interface Cluster {
  readonly url: string;
  /** Shuts the server down in order. */
  stop(): Promise<void>;
  /** Ends the server without a checkpoint. */
  crash(): Promise<void>;
}

/** Returns the user of the server. PostgreSQL refuses to run as root; its package creates the user `postgres`. */
async function serverUser(): Promise<{ uid?: number; gid?: number }> {
  if (process.getuid?.() !== 0) return {};
  const [uid, gid] = await Promise.all(['-u', '-g'].map((what) => run('id', [what, 'postgres'])));
  return { uid: Number(uid?.stdout), gid: Number(gid?.stdout) };
}

/** Creates an empty cluster with small segments of the write-ahead log, so that copies are quick. */
export async function createCluster(folder: string): Promise<void> {
  const user = await serverUser();
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid);
  const options = [
    '--username=postgres',
    '--auth=trust',
    '--no-sync',
    '--encoding=UTF8',
    '--locale=C',
    '--wal-segsize=1',
  ];
  await run(join(await postgresPrograms(), 'initdb'), [...options, folder], { cwd: '/', ...user });
}

/** Gives a folder that the proof built to the user of the server, without the PID file of a running server. */
export async function adoptCluster(folder: string): Promise<void> {
  rmSync(join(folder, 'postmaster.pid'), { force: true });
  const { uid, gid } = await serverUser();
  if (uid === undefined || gid === undefined) return;
  const give = (path: string) => {
    chownSync(path, uid, gid);
    if (!lstatSync(path).isDirectory()) return;
    for (const name of readdirSync(path)) give(join(path, name));
  };
  give(folder);
}

const startsWithin = 60_000;

/**
 * Starts the server.
 * @throws when it does not start, with the end of its log
 */
export async function startCluster(
  folder: string,
  endings: Endings,
  environment: Readonly<Record<string, string>> = {},
): Promise<Cluster> {
  const user = await serverUser();
  const port = await freePort();
  const sockets = mkdtempSync(join(tmpdir(), 'proof-postgres-'));
  if (user.uid !== undefined && user.gid !== undefined) chownSync(sockets, user.uid, user.gid);
  const log = join(sockets, 'log');
  const options = [
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${sockets}`,
    'max_wal_size=16MB',
    'min_wal_size=2MB',
  ];
  const args = ['-D', folder, '-p', String(port), ...options.flatMap((option) => ['-c', option])];
  const child = spawn(join(await postgresPrograms(), 'postgres'), args, {
    ...{
      cwd: '/',
      stdio: ['ignore', 'ignore', openSync(log, 'a')],
      env: { PATH: '/usr/bin:/bin', ...environment },
      ...user,
    },
  });
  const end = async (signal: NodeJS.Signals) => {
    await endProcess(child, signal);
    rmSync(sockets, { recursive: true, force: true });
  };
  endings.after(() => end('SIGQUIT'));
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  for (const latest = performance.now() + startsWithin; !(await accepts(url)); await pause(50)) {
    if (child.exitCode === null && performance.now() < latest) continue;
    throw new Error(`PostgreSQL does not start: ${readFileSync(log, 'utf8').slice(-1_000)}`);
  }
  return { url, stop: () => end('SIGINT'), crash: () => end('SIGQUIT') };
}

async function endProcess(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, 'exit');
}

async function accepts(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port');
  return address.port;
}
