import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBoundedLog } from './bounded-log.ts';

test('a log that callers can fill writes a bounded number of lines a minute and counts those that it leaves out', () => {
  const lines: unknown[] = [];
  let time = 0;
  const logger = { warn: (fields: unknown) => void lines.push(fields) };
  const log = createBoundedLog(logger as never, 3, () => time);
  for (let i = 0; i < 10; i++) log.warn({ i }, 'request refused');
  assert.deepEqual(lines, [{ i: 0 }, { i: 1 }, { i: 2 }]);
  time = 60_000;
  log.warn({ i: 10 }, 'request refused');
  log.warn({ i: 11 }, 'request refused');
  assert.deepEqual(lines.slice(3), [{ i: 10, left_out: 7 }, { i: 11 }]);
  time = 1000;
  for (let i = 12; i < 20; i++) log.warn({ i }, 'request refused');
  assert.deepEqual(lines.slice(5), [{ i: 12 }, { i: 13 }, { i: 14 }], 'a clock that was set back begins a new minute');
});

test('a log that callers can fill says at the end of the minute how many lines it left out', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const lines: unknown[] = [];
  const logger = { warn: (fields: unknown, message: string) => void lines.push([fields, message]) };
  const log = createBoundedLog(logger as never, 1);
  for (let i = 0; i < 10; i++) log.warn({ event: 'request_refused', i }, 'request refused');
  t.mock.timers.tick(59_999);
  assert.equal(lines.length, 1);
  t.mock.timers.tick(1);
  assert.deepEqual(lines.slice(1), [[{ event: 'request_refused', left_out: 9 }, 'request refused']]);
  log.warn({ event: 'request_refused', i: 10 }, 'request refused');
  assert.deepEqual(lines.slice(2), [[{ event: 'request_refused', i: 10 }, 'request refused']]);
  t.mock.timers.tick(120_000);
  assert.equal(lines.length, 3, 'nothing was left out since');
});
