import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '../log/logger.ts';
import { warnAboutRoot } from './operator-error.ts';

function logged(userId: number): readonly string[] {
  const log: string[] = [];
  warnAboutRoot(createLogger('info', { write: (line) => void log.push(line) }), userId);
  return log;
}

test('a start as root logs one warning with the remedy, and a start as another user logs none', () => {
  const [line, ...others] = logged(0);
  assert.match(line ?? '', /"level":"warn".*as a user of its own.*"msg":"service started as root"/);
  assert.deepEqual([others, logged(1000)], [[], []]);
});
