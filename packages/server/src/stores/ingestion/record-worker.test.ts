import assert from 'node:assert/strict';
import { test } from 'node:test';
import { databaseUnreachable } from '../../storage/database/problems.ts';
import { openSteps } from './testing/stepped-service.suite.ts';

test('a temporary failure does not count as an attempt, and every other one does', async (t) => {
  const { create, get, settle, extractor } = await openSteps(t);
  const recordId = await create();
  const attempt = async () => (await get(recordId)).progress.attempt;
  for (let failures = 0; failures < 4; failures++) {
    const reading = await extractor.next();
    assert.equal(await attempt(), 1);
    reading.fail(databaseUnreachable(new Error('away')));
  }
  (await extractor.next()).fail(new Error('broken'));
  const reading = await extractor.next();
  assert.equal(await attempt(), 2);
  await reading.give('red fox');
  reading.end();
  assert.equal((await settle(recordId)).status, 'ready');
});
