import { execFile } from 'node:child_process';
import { access } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** By package: the sandbox of handlers, and the network namespaces in which addresses are tried that must not be reached. */
const programs = { bubblewrap: '/usr/bin/bwrap', iproute2: '/sbin/ip' };

/** Installs what the tests need of the system where it is missing and that is possible, else fails and says how. */
export async function installSystemTools(): Promise<void> {
  const missing = await missingPackages();
  if (missing.length === 0) return;
  const command = `apt-get install -y --no-install-recommends ${missing.join(' ')}`;
  if (process.platform !== 'linux' || process.getuid?.() !== 0) {
    throw new Error(`These tests need ${missing.join(' and ')}. Type: sudo ${command}`);
  }
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', ['update'], { env });
  await run('/bin/sh', ['-c', command], { env });
  const still = await missingPackages();
  if (still.length > 0) throw new Error(`There is still no ${still.join(' and no ')} after: ${command}`);
}

async function missingPackages(): Promise<string[]> {
  const missing: string[] = [];
  for (const [name, program] of Object.entries(programs)) {
    await access(program).catch(() => missing.push(name));
  }
  return missing;
}
