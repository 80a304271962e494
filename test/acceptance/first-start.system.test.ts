import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startCommand } from '../../scripts/start-command.ts';
import { temporaryFolder } from '../support/service.ts';

interface StartOptions {
  readonly folder: string;
  readonly filesPort?: number;
  /** Called after the greeting, before the service is stopped. */
  readonly whenReady?: (printed: string) => Promise<void>;
}

/** Starts the service in a folder with the command that `wrap` builds, and stops it after its greeting. */
async function start(t: TestContext, wrap: (command: string) => readonly string[], options: StartOptions) {
  const { folder, filesPort = 0, whenReady = async () => {} } = options;
  const { args, environment } = startCommand();
  const [program = '', ...rest] = wrap(`echo pid $$; exec ${[process.execPath, ...args].join(' ')}`);
  const child = spawn(program, rest, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...{ PATH: process.env.PATH ?? '', HOME: folder, ...environment, QUARTERMASTER_DATA: folder },
      ...{ QUARTERMASTER_FILES_PORT: String(filesPort), QUARTERMASTER_PLUGINS_PORT: '0' },
      QUARTERMASTER_DRAIN_SECONDS: '0',
    },
  });
  t.after(() => child.kill('SIGKILL'));
  let printed = '';
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  let isReady = false;
  for await (const text of child.stdout.setEncoding('utf8')) {
    printed += text;
    if (isReady || !/(set up console |#)[^\n]*\n/.test(printed)) continue;
    isReady = true;
    await whenReady(printed);
    process.kill(Number(/^pid (\d+)/.exec(printed)?.[1]), 'SIGTERM');
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return { printed, log, exitCode: child.exitCode };
}

/** Starts a fresh service. */
async function firstStart(t: TestContext, wrap: (command: string) => readonly string[]) {
  const folder = await temporaryFolder(t);
  const { printed, log } = await start(t, wrap, { folder });
  const read = async (name: string) => (await readFile(join(folder, name), 'utf8')).trim();
  return { folder, printed, log, key: await read('first-key'), link: await read('setup-link') };
}

// `script` gives its command a pseudo-terminal as standard output and standard error.
const onTerminal = (command: string) => [
  ...['script', '--quiet', '--return', '--flush', '--command', command, '/dev/null'],
];

test('[start] a first start prints the key and the setup link on a terminal', async (t) => {
  const { folder, printed, key, link } = await firstStart(t, onTerminal);
  assert.ok(
    printed.includes(`first API key    ${key}   (shown until its first use; also in ${join(folder, 'first-key')})`),
    printed,
  );
  assert.match(printed, /Open this link to create the console account \(once, within an hour;/);
  assert.ok(printed.includes(link), printed);
});

test('[start] without a terminal, such as in a container or a systemd unit, a first start prints only the names of the files', async (t) => {
  const { folder, printed, log, key, link } = await firstStart(t, (command) => ['sh', '-c', command]);
  assert.ok(printed.includes(`first API key    in ${join(folder, 'first-key')}\n`), printed);
  assert.ok(printed.includes(`set up console   link in ${join(folder, 'setup-link')}\n`), printed);
  const token = link.split('#')[1] ?? '';
  assert.ok(token.length >= 32 && key.startsWith('qmk_'));
  for (const secret of [key, token]) assert.ok(!(printed + log).includes(secret));
});

test('[start] after a failed first start, the next starts show the first key until a request uses it', async (t) => {
  const folder = await temporaryFolder(t);
  const occupant = createServer().listen(0, '127.0.0.1');
  await once(occupant, 'listening');
  t.after(() => occupant.close());
  const { port } = occupant.address() as AddressInfo;
  const failed = await start(t, onTerminal, { folder, filesPort: port });
  assert.equal(failed.exitCode, 1);
  assert.ok(!failed.printed.includes('qmk_'), failed.printed);
  const row = `first API key    ${(await readFile(join(folder, 'first-key'), 'utf8')).trim()}   (shown until its first use;`;
  const second = await start(t, onTerminal, { folder });
  assert.ok(second.printed.includes(row), second.printed);
  const third = await start(t, onTerminal, {
    folder,
    whenReady: async (printed) => {
      const url = /files address +(\S+)/.exec(printed)?.[1] ?? '';
      const key = /qmk_\w+/.exec(printed)?.[0] ?? '';
      const answer = await fetch(`${url}/v1/files`, { headers: { authorization: `Bearer ${key}` } });
      assert.equal(answer.status, 200);
    },
  });
  assert.ok(third.printed.includes(row), third.printed);
  const fourth = await start(t, onTerminal, { folder });
  assert.match(fourth.printed, /Open this link/);
  assert.ok(!fourth.printed.includes('first API key'), fourth.printed);
});
