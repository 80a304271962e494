import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createLogDestination } from './log-destination.ts';

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'quartermaster-log-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Opens a file for the log. The destination closes it at its end. */
function open(t: TestContext) {
  const path = join(temporaryFolder(t), 'log');
  return { fd: openSync(path, 'a'), read: () => readFileSync(path, 'utf8') };
}

/** Opens a pipe without a reader. */
function openUnreadPipe(t: TestContext): number {
  const path = join(temporaryFolder(t), 'pipe');
  execFileSync('mkfifo', [path]);
  return openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
}

const longLine = (number: number) => `{"line":${number},"text":"more than a pipe holds"}\n`;

test('every line arrives, whole and in order', async (t) => {
  const { fd, read } = open(t);
  const log = createLogDestination(fd);
  const lines = Array.from({ length: 5000 }, (_, i) => `{"line":${i},"text":"grüße 你好"}\n`);
  for (const [i, line] of lines.entries()) {
    log.write(line);
    if (i % 100 === 0) await setImmediate();
  }
  await log.end();
  assert.equal(read(), lines.join(''));
});

test('a flush writes the batched lines before it returns, and a line after the end is not an error', async (t) => {
  const { fd, read } = open(t);
  const log = createLogDestination(fd);
  log.write('first\n');
  log.flushSync();
  assert.equal(read(), 'first\n');
  log.write('last\n');
  await log.end();
  log.write('too late\n');
  log.flushSync();
  await log.end();
  assert.equal(read(), 'first\nlast\n');
});

for (const [way, finish] of [
  ['a flush', async (log: ReturnType<typeof createLogDestination>) => log.flushSync()],
  ['the end', async (log: ReturnType<typeof createLogDestination>) => log.end()],
] as const) {
  test(`lines beyond the limit for a slow reader are dropped, and ${way} logs their number`, async (t) => {
    const { fd, read } = open(t);
    const log = createLogDestination(fd, { maxBytes: 1000 });
    for (let i = 0; i < 500; i++) log.write(`line ${i}\n`);
    await finish(log);
    const written = read().trimEnd().split('\n');
    const last = JSON.parse(written.pop() ?? '') as { dropped: number };
    assert.equal(written.length + last.dropped, 500);
    assert.ok(last.dropped > 300);
    await log.end();
  });
}

test('a log reader that takes nothing delays the end at most by the timeout', async (t) => {
  const log = createLogDestination(openUnreadPipe(t), { endTimeoutMs: 10 });
  for (let i = 0; i < 10_000; i++) log.write(longLine(i));
  await log.end();
});

test('a log reader that takes nothing does not delay a flush', async (t) => {
  const log = createLogDestination(openUnreadPipe(t), { endTimeoutMs: 10 });
  for (let i = 0; i < 10_000; i++) log.write(longLine(i));
  log.flushSync();
  await log.end();
});

test('a full disk delays neither a flush nor the end', async () => {
  const log = createLogDestination(openSync('/dev/full', 'w'), { endTimeoutMs: 10 });
  for (let i = 0; i < 10_000; i++) log.write(longLine(i));
  log.flushSync();
  await log.end();
});

for (const [way, end] of [
  ['a flush', 'log.flushSync(); process.exit()'],
  ['the end', 'await log.end()'],
  ['the exit of the process', 'process.exit(7)'],
] as const) {
  for (const reader of ['takes nothing', 'has gone'] as const) {
    test(`${way} ends a process whose log reader ${reader}`, async (t) => {
      const program = `
        import { createLogDestination } from ${JSON.stringify(new URL('log-destination.ts', import.meta.url).href)};
        const log = createLogDestination(process.stderr.fd, { endTimeoutMs: 10 });
        await new Promise((resolve) => process.stdin.on('end', resolve).resume());
        for (let i = 0; i < 100_000; i++) log.write('{"text":"more than a pipe holds"}\\n');
        process.exitCode = 7;
        ${end};`;
      const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
        stdio: ['pipe', 'ignore', 'pipe'],
      });
      t.after(() => child.kill('SIGKILL'));
      if (reader === 'has gone') child.stderr.destroy();
      else child.stderr.pause();
      child.stdin.end();
      assert.deepEqual(await once(child, 'exit'), [7, null]);
    });
  }
}
