import { type StdioOptions, spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import type { Group } from './cgroups.ts';
import { enterBefore } from './enter.ts';

/** Starts a process in the group, as plugin children do. Returns what it reports about its groups. */
export async function probeGroup(group: Group, user: number | undefined): Promise<string> {
  const stdio: StdioOptions = ['ignore', 'pipe', 'ignore', ...group.entrances];
  const [command = '', ...args] = enterBefore(
    ['/bin/cat', '/proc/self/cgroup'],
    group.entrances.map((_, at) => 3 + at),
  );
  const child = spawn(command, args, {
    env: {},
    cwd: '/',
    stdio,
    ...(user === undefined ? {} : { uid: user, gid: user }),
  });
  child.on('error', () => {});
  const ended = new Promise((resolve) => child.once('close', resolve));
  const found = child.stdout === null ? '' : await text(child.stdout);
  await ended;
  return found;
}
