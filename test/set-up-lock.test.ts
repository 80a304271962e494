import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createClone, setUpScript } from './support/installation.ts';
import { temporaryFolder } from './support/service.ts';

/** Starts set-ups in one clone. Its npm writes its process id to `npm-pid`, and installs nothing before a line arrives in the pipe `go`. */
async function createSharedClone(t: TestContext) {
  const folder = await temporaryFolder(t);
  const { write, setUp, exists } = await createClone(folder);
  execFileSync('mkfifo', [join(folder, 'go')]);
  execFileSync('mkfifo', [join(folder, 'begun')]);
  const npm = `#!/bin/sh
echo "$*" >> calls
case "$*" in
  run* | *--prefix*) mkdir -p packages/console/node_modules; exit ;;
esac
echo $$ > begun
read -r line < go
mkdir -p node_modules
`;
  write('bin/npm', npm);
  chmodSync(join(folder, 'bin/npm'), 0o755);
  const start = () => {
    const env = { PATH: `${join(folder, 'bin')}${delimiter}${process.env.PATH}`, QUARTERMASTER_NODE: 'host' };
    const child = spawn(process.execPath, [setUpScript, 'run'], { cwd: folder, env });
    t.after(() => child.kill('SIGKILL'));
    return child;
  };
  /** Waits until npm of a set-up has started. Returns its process id. */
  const npmStarted = async () => {
    const reader = spawn('cat', [join(folder, 'begun')]);
    t.after(() => reader.kill());
    const pid = await textUntil(reader, 'stdout', /^\d+\n/);
    t.after(() => tryToKill(Number(pid)));
    return Number(pid);
  };
  const letGo = () => writeFileSync(join(folder, 'go'), 'go\n');
  const installations = () => readFileSync(join(folder, 'calls'), 'utf8').match(/^ci --omit=dev/gm)?.length ?? 0;
  /** Returns whether the first lock names the process. */
  const lockNames = (pid: number) =>
    readFileSync(join(folder, '.set-up/lock-1'), 'utf8')
      .split('\n')
      .some((line) => line.startsWith(`${pid} `));
  return { folder, write, setUp, exists, start, npmStarted, letGo, installations, lockNames };
}

function tryToKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

async function textUntil(child: ChildProcessWithoutNullStreams, from: 'stdout' | 'stderr', pattern: RegExp) {
  let text = '';
  for await (const part of child[from].setEncoding('utf8')) {
    text += part;
    if (pattern.test(text)) return text;
  }
  throw new Error(`It ended with "${text}".`);
}

test('the second of two concurrent set-ups prints one sentence, waits, and installs nothing again', async (t) => {
  const { start, npmStarted, letGo, installations, exists } = await createSharedClone(t);
  const first = start();
  await npmStarted();
  const second = start();
  let said = '';
  const waits = new Promise<void>((resolve) =>
    second.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.includes('\n')) resolve();
    }),
  );
  await waits;
  assert.equal(
    said,
    `quartermaster: another set-up of this folder is running (process ${first.pid}); waiting until it ends\n`,
  );
  const ends = [once(first, 'exit'), once(second, 'exit')];
  letGo();
  assert.deepEqual(
    (await Promise.all(ends)).map(([code]) => code),
    [0, 0],
  );
  assert.equal(installations(), 1);
  assert.ok(exists('node_modules/.installed-from'));
});

test('a set-up takes over the lock of a killed one as soon as the npm that it left behind has ended', async (t) => {
  const { start, npmStarted, letGo, installations, lockNames } = await createSharedClone(t);
  const killed = start();
  const npm = await npmStarted();
  // The set-up records npm immediately after it has started it, and then waits for it.
  while (!lockNames(npm)) await nextTurn();
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  const next = start();
  const said = await textUntil(next, 'stderr', /\n/);
  assert.match(said, new RegExp(`is running \\(process ${npm}\\); waiting`));
  const ended = once(next, 'exit');
  process.kill(npm, 'SIGKILL');
  await npmStarted();
  letGo();
  assert.equal((await ended)[0], 0);
  assert.equal(installations(), 2, 'the interrupted installation starts again');
});

test('a set-up ignores the lock of a process that has ended, even when another process has its number now', async (t) => {
  const { start, npmStarted, letGo, write, folder } = await createSharedClone(t);
  write('.set-up/lock-7', `${process.pid} 1\n`);
  const child = start();
  await npmStarted();
  assert.ok(existsSync(join(folder, '.set-up/lock-8')));
  assert.ok(!existsSync(join(folder, '.set-up/lock-7')));
  const ended = once(child, 'exit');
  letGo();
  assert.equal((await ended)[0], 0);
});

test('a package that npm leaves incomplete ends the set-up with one sentence, and the next one installs again', async (t) => {
  const folder = await temporaryFolder(t);
  const { write, setUp, exists } = await createClone(folder);
  const locked = { version: '2.0.0', bin: { tool: 'bin/tool' } };
  const packages = { 'node_modules/tool': locked, 'node_modules/of-tests': { version: '1.0.0', dev: true } };
  write('package-lock.json', JSON.stringify({ packages }));
  const refused = () => {
    const { status, stderr, calls } = setUp('run');
    assert.equal(status, 1, stderr);
    assert.equal(calls[0], 'ci --omit=dev');
    assert.match(
      stderr,
      /\nquartermaster: npm has left packages incomplete [^\n]+: node_modules\/tool\. Run [^\n]+\n$/,
    );
    assert.ok(!exists('node_modules/.installed-from'));
  };
  refused();
  write('node_modules/tool/package.json', '{"version":"2.0.0"}');
  refused();
  write('node_modules/tool/package.json', '{"version":"1.0.0"}');
  write('node_modules/tool/bin/tool', '');
  refused();
  write('node_modules/tool/package.json', '{"version":"2.0.0"}');
  assert.equal(setUp('run').status, 0);
  assert.ok(exists('node_modules/.installed-from'));
});
