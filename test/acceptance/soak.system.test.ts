import assert from 'node:assert/strict';
import { test } from 'node:test';
import { temporaryFolder } from '../support/service.ts';
import { soak } from '../support/soak.ts';

test('[soak] random kills of plugins and of the service leave no zombie, orphan, file or credential behind', async (t) => {
  const folder = await temporaryFolder(t);
  const result = await soak({
    ...{ folder, executions: 600, runsPerKill: 60, serviceKills: 2 },
    ...{ warmRuns: 150, watchedRuns: 150 },
  });
  assert.ok(result.succeeded > 500, JSON.stringify(result));
  assert.ok(result.childrenKilled > 0, 'processes of plugins were killed');
  assert.deepEqual([result.zombies, result.orphans, result.files, result.filesWithCredential], [0, 0, [], []]);
});
