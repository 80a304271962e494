import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLeaseTask } from './lease-task.ts';

test('a process recovers runs at each heartbeat, but waits for a lease after its own heartbeats were interrupted', async (t) => {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const recoveredAt: number[] = [];
  const { run } = createLeaseTask({
    repository: { renew: async () => [], listHeld: async () => [], requeue: async () => {} },
    owner: 'one',
    queue: { all: new Map() },
    heartbeat: () => ({ owner: 'one', at: now }),
    stopRun: () => assert.fail('no run is stopped'),
    recover: async () => void recoveredAt.push(now),
    options: { lookMs: 2_000, cancelMs: 2_000, leaseMs: 12_000 },
  });
  for (const at of [0, 2_000, 8_000, 15_000, 20_000, 26_000, 28_000]) {
    now = at;
    await run(new AbortController().signal);
  }
  assert.deepEqual(recoveredAt, [0, 2_000, 8_000, 28_000]);
});
