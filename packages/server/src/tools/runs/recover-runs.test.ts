import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAdmission } from '../../platform/admission/admission.ts';
import { createLogger } from '../../platform/log/logger.ts';
import type { AsyncRun } from './async-run.ts';
import { createRecovery } from './recover-runs.ts';
import { createRunQueue } from './run-queue.ts';
import type { OrphanClaim, OrphanedRun, StoredRun } from './run-repository.ts';

const orphan: OrphanedRun = {
  run: { id: 'orphan', projectId: 'a', bundleId: 'b', createdAt: 0 } as StoredRun, // members that the recovery reads
  keyId: 'busy',
  request: { text: '{"bundle_id":"b","credentials":{}}', isEncrypted: false, isRepeatable: true },
  attempts: 0,
  isCancelAsked: false,
  isOrphaned: true,
};
// members that the queue reads
const runOf = (id: string) => ({ stored: { id, projectId: 'a' }, keyId: 'busy', size: 1 }) as AsyncRun;
const bounds = { maxRunning: 1, maxAccepted: 4, maxSize: 1000, admission: createAdmission() };
const common = {
  prepare: ({ keyId }: { keyId: string | null }) => ({ ...runOf('orphan'), keyId }),
  resolveCredentials: async () => ({ credentials: {} }),
  encrypter: null,
  lease: () => ({ owner: 'this', until: 1 }),
  clock: { now: () => 0 },
  logger: createLogger('silent'),
  ...{ owner: 'this', hasBundle: () => true, maxOrphanedMs: 1000 },
};

test('the files of an orphaned run are not read while its key has no place, and its further runs are not claimed', async () => {
  const queue = createRunQueue(bounds, () => Promise.resolve());
  queue.reserve(runOf('running'));
  const claims: OrphanClaim[] = [];
  const requeued: string[] = [];
  let reads = 0;
  const recover = createRecovery({
    repository: {
      claimOrphaned: async (_lease, claim) => {
        claims.push(claim);
        return [orphan];
      },
      requeue: async (keys) => void requeued.push(...keys.map(({ id }) => id)),
      end: () => assert.fail('the run was ended'),
    },
    ...common,
    queue,
    executor: {
      readFiles: (_request, _caller, work) => {
        reads += 1;
        return work(new Map());
      },
    },
  });
  await recover();
  assert.deepEqual(requeued, ['orphan']);
  assert.equal(reads, 0);
  assert.deepEqual(claims[0]?.except, [{ projectId: 'a', keyId: 'busy' }]);
});

test('a run is executed again after two processes that ended, and ends after three', async () => {
  const outcomes: string[] = [];
  for (const attempts of [2, 3]) {
    const recover = createRecovery({
      repository: {
        claimOrphaned: async () => [{ ...orphan, attempts }],
        requeue: () => assert.fail('the run was queued again'),
        end: async (_run, { end }) => {
          outcomes.push(`${end.error?.message}`);
          return true;
        },
      },
      ...common,
      queue: createRunQueue({ ...bounds, admission: createAdmission() }, () => Promise.resolve()),
      executor: {
        readFiles: (_request, _caller, work) => {
          outcomes.push('executed');
          return work(new Map());
        },
      },
    });
    await recover();
  }
  assert.equal(outcomes.length, 2);
  assert.equal(outcomes[0], 'executed');
  assert.match(outcomes[1] ?? '', /stopped each time/);
});
