import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createLogDestination } from './log-destination.ts';

function open(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'quartermaster-log-'));
  const path = join(folder, 'log');
  const fd = openSync(path, 'a');
  t.after(() => {
    closeSync(fd);
    rmSync(folder, { recursive: true });
  });
  return { fd, read: () => readFileSync(path, 'utf8') };
}

test('every line arrives, whole and in order', async (t) => {
  const { fd, read } = open(t);
  const log = createLogDestination(fd, { gather: 1000 });
  const lines = Array.from({ length: 5000 }, (_, i) => `{"line":${i},"text":"grüße 你好"}\n`);
  for (const [i, line] of lines.entries()) {
    log.write(line);
    if (i % 100 === 0) await setImmediate();
  }
  await log.end();
  assert.equal(read(), lines.join(''));
});

test('a slow reader costs lines, not memory, and their number is said', (t) => {
  const { fd, read } = open(t);
  const log = createLogDestination(fd, { gather: 1_000_000, most: 1000 });
  for (let i = 0; i < 500; i++) log.write(`line ${i}\n`);
  log.flushSync();
  const written = read().trimEnd().split('\n');
  const last = JSON.parse(written.pop() ?? '') as { dropped: number };
  assert.equal(written.length + last.dropped, 500);
  assert.ok(last.dropped > 300);
});

test('a reader who takes nothing holds up the end no longer than its patience', { timeout: 30_000 }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'quartermaster-log-'));
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  t.after(() => {
    closeSync(fd);
    rmSync(folder, { recursive: true });
  });
  const log = createLogDestination(fd, { patience: 10 });
  for (let i = 0; i < 10_000; i++) log.write(`{"line":${i},"text":"more than a pipe holds"}\n`);
  await log.end();
});
