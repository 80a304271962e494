import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { restartUnderLoad } from '../../bench/restart-bench.ts';
import { temporaryFolder } from '../support/service.ts';

/** `npm run bench -- restarts` restarts 50 times. */
test('[operations] during restarts under load, no request fails for clients that honour Connection: close and retry once, and no acknowledged upload is lost', async (t) => {
  const folder = join(await temporaryFolder(t), 'data');
  const result = await restartUnderLoad({ folder, restarts: 3, maxSeconds: 300, drainSeconds: [0, 1] });
  const failed = result.failed.slice(0, 10);
  const { restarts, lost, duplicates, badExits } = result;
  assert.deepEqual(
    { restarts, failed, lost, duplicates, badExits },
    { restarts: 3, failed: [], lost: [], duplicates: 0, badExits: [] },
  );
  assert.ok(result.uploads > 0 && result.retried > 0, 'the restarts met uploads and other requests');
});
