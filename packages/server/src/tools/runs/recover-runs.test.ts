import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAdmission } from '../../platform/admission/admission.ts';
import { createLogger } from '../../platform/log/logger.ts';
import type { AsyncRun } from './async-run.ts';
import { createRecovery } from './recover-runs.ts';
import { createRunQueue } from './run-queue.ts';
import type { OrphanClaim, OrphanedRun, StoredRun } from './run-repository.ts';

test('the files of an orphaned run are not read while its key has no place, and its further runs are not claimed', async () => {
  const bounds = { maxRunning: 1, maxAccepted: 4, maxSize: 1000, admission: createAdmission() };
  const queue = createRunQueue(bounds, () => Promise.resolve());
  const run = (id: string) => {
    // members that the queue reads
    return { stored: { id, projectId: 'a' }, keyId: 'busy', size: 1 } as AsyncRun;
  };
  queue.reserve(run('running'));
  const claims: OrphanClaim[] = [];
  const requeued: string[] = [];
  let reads = 0;
  const orphan: OrphanedRun = {
    run: { id: 'orphan', projectId: 'a', bundleId: 'b', createdAt: 0 } as StoredRun, // members that the recovery reads
    keyId: 'busy',
    request: { text: '{"bundle_id":"b","credentials":{}}', isEncrypted: false, isRepeatable: true },
    attempts: 0,
    isCancelAsked: false,
  };
  const recover = createRecovery({
    repository: {
      claimOrphaned: async (_lease, claim) => {
        claims.push(claim);
        return [orphan];
      },
      requeue: async (keys) => void requeued.push(...keys.map(({ id }) => id)),
      end: () => assert.fail('the run was ended'),
    },
    queue,
    prepare: ({ keyId }) => ({ ...run('orphan'), keyId }),
    resolveCredentials: async () => ({ credentials: {} }),
    executor: {
      readFiles: (_request, _caller, work) => {
        reads += 1;
        return work(new Map());
      },
    },
    encrypter: null,
    lease: () => ({ owner: 'this', until: 1 }),
    clock: { now: () => 0 },
    logger: createLogger('silent'),
    ...{ owner: 'this', hasBundle: () => true, maxOrphanedMs: 1000 },
  });
  await recover();
  assert.deepEqual(requeued, ['orphan']);
  assert.equal(reads, 0);
  assert.deepEqual(claims[0]?.except, [{ projectId: 'a', keyId: 'busy' }]);
});
