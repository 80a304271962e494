import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { findFreePort } from './free-port.ts';
import { findServerUser } from './postgres.ts';
import { requireTools, toolsNamed } from './system-tools.ts';

export interface PgBouncer {
  /** The URL of the database through the pooler. */
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Starts a PgBouncer in front of the server that `url` names.
 * @param settings additional lines of its configuration
 */
export async function startPgBouncer(
  url: string,
  mode: 'session' | 'transaction' | 'statement',
  settings: readonly string[] = [],
): Promise<PgBouncer> {
  requireTools(toolsNamed('pgbouncer'));
  const { hostname, port, username } = new URL(url);
  const user = await findServerUser();
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-pgbouncer-'));
  const ours = await findFreePort();
  await writeFile(join(folder, 'users'), `"${username}" ""\n`);
  const lines = [
    '[databases]',
    `* = host=${hostname} port=${port}`,
    '[pgbouncer]',
    ...['listen_addr = 127.0.0.1', `listen_port = ${ours}`, 'unix_socket_dir ='],
    ...['auth_type = trust', `auth_file = ${join(folder, 'users')}`],
    ...[`pool_mode = ${mode}`, 'default_pool_size = 12', ...settings],
  ];
  const file = join(folder, 'pgbouncer.ini');
  await writeFile(file, `${lines.join('\n')}\n`);
  if (user !== undefined) await chown(folder, user.uid, user.gid);
  const child = spawn('/usr/sbin/pgbouncer', [file], { stdio: ['ignore', 'ignore', 'pipe'], ...user });
  let isUp = false;
  for await (const line of createInterface({ input: child.stderr })) {
    isUp = line.includes('process up');
    if (isUp) break;
  }
  child.stderr.resume();
  const through = new URL(url);
  through.host = `127.0.0.1:${ours}`;
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await rm(folder, { recursive: true, force: true });
  };
  if (isUp) return { url: through.href, stop };
  await stop();
  throw new Error('PgBouncer did not start');
}
