import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBench } from './testing/execution.suite.ts';

/** The reason why the run of each plugin fails. */
const costly: Record<string, RegExp> = {
  costly: /response\.output: it takes more than 400000 steps/,
  costly_failed: /response\.failed_when: it takes more than 400000 steps/,
  many_times: /The output must be at most 16777216 bytes/,
};

for (const [plugin_id, reason] of Object.entries(costly)) {
  test(`a response that ${plugin_id} cannot map within the limits fails that run, and other runs continue`, async (t) => {
    const { execute } = await openBench(t, (_request, response) => response.end('{"said":"hi"}'));
    const [failed, other] = await Promise.all([execute({ plugin_id }), execute({ plugin_id: 'say' })]);
    assert.deepEqual([failed.status, failed.body.error.code], [500, 'PLUGIN_FAILED'], failed.text);
    assert.equal(failed.body.error.details[0].outcome, 'failed');
    assert.match(failed.body.error.message, reason);
    assert.deepEqual([other.status, other.body.data.data.said], [200, 'hi']);
  });
}
