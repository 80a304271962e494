import { execFile } from 'node:child_process';
import { access } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
/**
 * By package: the sandbox of handlers, the network namespaces in which addresses are tried that must not be reached, and the
 * compiler of what makes the disk of a service fail.
 */
const programs = {
  bubblewrap: '/usr/bin/bwrap',
  iproute2: '/sbin/ip',
  gcc: '/usr/bin/gcc',
  'libc6-dev': '/usr/include/dlfcn.h',
};

/** What `npm run proof` needs: a compiler for its recorder, and a clock that can be set. */
export const proofPrograms = {
  gcc: '/usr/bin/gcc',
  'libc6-dev': '/usr/include/stdio.h',
  diffutils: '/usr/bin/diff',
  faketime: '/usr/bin/faketime',
};

/** Installs what the tests need of the system where it is missing and that is possible, else fails and says how. */
export async function installSystemTools(needed: Readonly<Record<string, string>> = programs): Promise<void> {
  const missing = await missingPackages(needed);
  if (missing.length === 0) return;
  const command = `apt-get install -y --no-install-recommends ${missing.join(' ')}`;
  if (process.platform !== 'linux' || process.getuid?.() !== 0) {
    throw new Error(`This needs ${missing.join(' and ')}. Type: sudo ${command}`);
  }
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', ['update'], { env });
  await run('/bin/sh', ['-c', command], { env });
  const still = await missingPackages(needed);
  if (still.length > 0) throw new Error(`There is still no ${still.join(' and no ')} after: ${command}`);
}

async function missingPackages(needed: Readonly<Record<string, string>>): Promise<string[]> {
  const missing: string[] = [];
  for (const [name, program] of Object.entries(needed)) {
    await access(program).catch(() => missing.push(name));
  }
  return missing;
}
