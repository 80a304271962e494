import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { probeSandbox } from '../../../platform/processes/isolation/probe.ts';
import { createUsageWatch } from '../../../platform/processes/usage-watch.ts';
import { createHost } from './host.ts';
import { spawnChild } from './spawn-child.ts';
import { openTestBed, until } from './testing/test-bed.suite.ts';

test('a sandboxed child has its streams and its channel, and no file of the server', async () => {
  await using bed = await openTestBed();
  const { settings } = await probeSandbox();
  assert.ok(settings !== undefined, 'this machine has bubblewrap');
  await bed.addBundle('waiting', {
    'wait.mjs': `import net from 'node:net'; new net.Socket({ fd: 3 }).on('data', () => {}).write('up');`,
  });
  const bundleFolder = join(bed.folder, 'waiting');
  const plan = { bundleFolder, memoryMb: 256, entry: join(bundleFolder, 'wait.mjs'), isUnrestricted: true as const };
  await writeFile(join(bed.folder, 'canary.txt'), 'canary');
  await using file = await open(join(bed.folder, 'canary.txt'));
  const child = spawnChild(plan, settings);
  const channel = child.process.stdio[3];
  assert.ok(file.fd > 0 && channel !== null && channel !== undefined && 'read' in channel);
  await once(channel, 'data');
  const folder = `/proc/${child.pid()}/fd`;
  const targets = readdirSync(folder).map((fd) => [Number(fd), readlinkSync(`${folder}/${fd}`)] as const);
  const sockets = targets.filter(([, target]) => target.startsWith('socket:')).map(([fd]) => fd);
  const files = targets.filter(([, target]) => target.startsWith('/')).map(([, target]) => target);
  child.process.kill('SIGKILL');
  await once(child.process, 'close');
  assert.deepEqual(sockets, [1, 2, 3]);
  // The root is that of the sandbox. The runtime opened it after the start.
  assert.deepEqual([...new Set(files)].toSorted(), ['/', '/dev/null']);
});

test('a sandboxed child ends with the process that started it', async () => {
  await using bed = await openTestBed();
  await bed.addBundle('spinning', { 'run.mjs': 'export const run = () => { for (;;); };' });
  const outcome = bed.run('spinning', { isolation: 'sandbox', limits: { timeoutMs: 200 } });
  assert.equal((await outcome).kind, 'timed_out');
  await until('nothing of it is left', () => !programsRunning().some((line) => line.includes('/spinning')));
});

test('a sandboxed child that is killed while it starts ends, whatever it was doing', async () => {
  await using bed = await openTestBed();
  const { settings } = await probeSandbox();
  assert.ok(settings !== undefined, 'this machine has bubblewrap');
  await bed.addBundle('starting', { 'run.mjs': 'export const run = () => 1;' });
  const bundleFolder = join(bed.folder, 'starting');
  for (let ms = 0; ms < 60; ms++) {
    const host = createHost(spawnChild({ bundleFolder, memoryMb: 128 }, settings), createUsageWatch());
    await delay(ms / 2);
    host.kill();
    await host.ended;
  }
  assert.deepEqual(
    programsRunning().filter((line) => line.includes('/starting')),
    [],
  );
});

function programsRunning(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
      } catch {
        return '';
      }
    });
}
