import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startCommand } from '../../scripts/start-command.ts';
import { temporaryFolder } from '../support/service.ts';

/** Starts a fresh service with the command that `wrap` builds, and stops it after its greeting. */
async function firstStart(t: TestContext, wrap: (command: string) => readonly string[]) {
  const folder = await temporaryFolder(t);
  const { args, environment } = startCommand();
  const [program = '', ...rest] = wrap(`echo pid $$; exec ${[process.execPath, ...args].join(' ')}`);
  const child = spawn(program, rest, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...{ PATH: process.env.PATH ?? '', HOME: folder, ...environment, QUARTERMASTER_DATA: folder },
      ...{ QUARTERMASTER_FILES_PORT: '0', QUARTERMASTER_PLUGINS_PORT: '0', QUARTERMASTER_DRAIN_SECONDS: '0' },
    },
  });
  t.after(() => child.kill('SIGKILL'));
  let printed = '';
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  for await (const text of child.stdout.setEncoding('utf8')) {
    printed += text;
    const pid = /(set up console |#)[^\n]*\n/.test(printed) && /^pid (\d+)/.exec(printed)?.[1];
    if (typeof pid === 'string') process.kill(Number(pid), 'SIGTERM');
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  const read = async (name: string) => (await readFile(join(folder, name), 'utf8')).trim();
  return { folder, printed, log, key: await read('first-key'), link: await read('setup-link') };
}

test('[start] a first start prints the key and the set-up link on a terminal', async (t) => {
  // `script` gives its command a pseudo-terminal as standard output and standard error.
  const { folder, printed, key, link } = await firstStart(t, (command) => [
    ...['script', '--quiet', '--return', '--flush', '--command', command, '/dev/null'],
  ]);
  assert.ok(printed.includes(`first API key    ${key}   (shown once; also in ${join(folder, 'first-key')})`), printed);
  assert.match(printed, /Open this link to create the console administrator \(once, within an hour;/);
  assert.ok(printed.includes(link), printed);
});

test('[start] without a terminal, as in a container or a unit of systemd, a first start names the files only', async (t) => {
  const { folder, printed, log, key, link } = await firstStart(t, (command) => ['sh', '-c', command]);
  assert.ok(printed.includes(`first API key    in ${join(folder, 'first-key')}\n`), printed);
  assert.ok(printed.includes(`set up console   link in ${join(folder, 'setup-link')}\n`), printed);
  const token = link.split('#')[1] ?? '';
  assert.ok(token.length >= 32 && key.startsWith('qmk_'));
  for (const secret of [key, token]) assert.ok(!(printed + log).includes(secret));
});
