import { execFile } from 'node:child_process';
import { access } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const program = '/usr/bin/bwrap';

/** The sandbox of handlers needs bubblewrap: installed where it is missing and that is possible, else a clear failure. */
export async function installBubblewrap(): Promise<void> {
  if (await isThere()) return;
  const command = 'apt-get install -y --no-install-recommends bubblewrap';
  if (process.platform !== 'linux' || process.getuid?.() !== 0) {
    throw new Error(`These tests need bubblewrap. Type: sudo ${command}`);
  }
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', ['update'], { env });
  await run('/bin/sh', ['-c', command], { env });
  if (!(await isThere())) throw new Error(`There is no ${program} after: ${command}`);
}

async function isThere(): Promise<boolean> {
  return access(program).then(
    () => true,
    () => false,
  );
}
