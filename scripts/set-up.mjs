// Installs the dependencies once per lockfile. Plain JavaScript without imports of ours: it runs before anything is
// installed, on whatever Node the host has; the pinned Node arrives with the installation.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const stamp = 'node_modules/.installed-from';
const wanted = createHash('sha256').update(readFileSync('package-lock.json')).digest('hex');
const installed = existsSync(stamp) ? readFileSync(stamp, 'utf8') : '';

if (installed !== wanted) {
  console.error('quartermaster: installing dependencies (once)');
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  // The compiled code of the service is kept from its first start on; that start is part of the installation.
  execFileSync('npm', ['run', '--silent', 'warm-up'], { stdio: ['ignore', 'ignore', 'inherit'] });
  writeFileSync(stamp, wanted);
}
// The console is built once for its sources, by the Node that was just installed.
execFileSync('node', ['scripts/build-console.mjs'], { stdio: ['ignore', 'ignore', 'inherit'] });
