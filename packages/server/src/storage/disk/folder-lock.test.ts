import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { temporaryFolder } from '../../platform/testing/temporary-folder.ts';
import { lockFolder } from './folder-lock.ts';

test('one process at a time locks a data folder, and the lock ends when that process is killed', async (t) => {
  const folder = await temporaryFolder(t);
  const script = `import { lockFolder } from ${JSON.stringify(import.meta.resolve('./folder-lock.ts'))};
    lockFolder(${JSON.stringify(folder)}); gc(); console.log('held'); setInterval(() => {}, 1000);`;
  // The lock lasts even if its owner keeps no reference to it and garbage is collected.
  const child = spawn(process.execPath, ['--expose-gc', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  assert.throws(() => lockFolder(folder), /in use by another process/);
  // A process that stands still, as one that is slow to start, keeps it.
  child.kill('SIGSTOP');
  assert.throws(() => lockFolder(folder), /in use by another process/);
  child.kill('SIGKILL');
  await once(child, 'exit');
  lockFolder(folder).release();
});
