import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createReadableDestination, formatLogLine } from './log/log-destination.ts';
import { createLogger } from './log/logger.ts';

function record(colours = false) {
  const lines: string[] = [];
  const destination = createReadableDestination({ write: (text) => lines.push(text) }, { colours });
  return { lines, logger: createLogger('info', destination) };
}

test('a readable line has the time of day, the level, the event and the fields', () => {
  const { lines, logger } = record();
  logger.info({ path: '/v1/files', ms: 3, remedy: 'chmod 700' }, 'request completed');
  assert.match(
    lines.join(''),
    /^\d\d:\d\d:\d\d\.\d{3} INFO {2}request completed path=\/v1\/files ms=3 remedy="chmod 700"\n$/,
  );
});

test('a readable line of an error has its stack, indented', () => {
  const { lines, logger } = record();
  logger.error({ err: new Error('disk gone') }, 'sweep failed');
  assert.match(lines.join(''), /ERROR sweep failed\n {4}Error: disk gone\n {4}at /);
});

test('a readable line escapes control characters, in events, fields, errors and foreign lines', () => {
  const hostile = '\u001b[2J\u009b31m\u202e\r\n';
  const { lines, logger } = record();
  logger.warn({ path: hostile, err: new Error(hostile) }, hostile);
  const printed = [...lines, formatLogLine(`not JSON ${hostile}end`, { colours: false })].join('').replaceAll('\n', '');
  assert.doesNotMatch(printed, /[\p{Cc}\u202a-\u202e]/u);
  assert.ok(printed.includes('\\u001b[2J'), printed);
});

test('a readable line cuts long values, and colours the level only on request', () => {
  const { lines, logger } = record(true);
  logger.info({ long: 'x'.repeat(5000) }, 'event');
  assert.ok((lines[0] ?? '').length < 400);
  assert.ok(lines[0]?.includes('\u001b[32mINFO'));
});
