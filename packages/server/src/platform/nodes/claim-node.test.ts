import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '../log/logger.ts';
import { createMetrics } from '../metrics.ts';
import { claimNode } from './claim-node.ts';
import type { NodeRepository, StoredNode } from './node-repository.ts';
import { openNode } from './open-node.ts';

const logger = createLogger('silent');

/** A store whose last node had the folder instance `folder.first start`. */
function openStore(stoppedAt: number | null) {
  const times = { startedAt: 0, heartbeatAt: 0, silentFor: 60_000 };
  const settings = { encryptionKeys: [], equal: {} };
  const identity = { serves: 'files', host: 'h', version: '1', settings } as const;
  const facts = { address: '', capabilities: {} };
  let stored: StoredNode = {
    id: 'old',
    ...identity,
    ...facts,
    folderInstance: 'folder.first start',
    stoppedAt,
    ...times,
  };
  const calls = { renewed: 0, stopped: 0 };
  const repository: NodeRepository = {
    find: async () => stored,
    list: async () => [stored],
    register: async () => undefined,
    publish: async () => {},
    lead: async () => true,
    claim: async (node) => {
      stored = { ...node, ...facts, stoppedAt: null, ...times };
      return true;
    },
    renew: async () => {
      calls.renewed += 1;
      return 1;
    },
    stop: async () => {
      calls.stopped += 1;
    },
  };
  const prepared: string[] = [];
  const folder = {
    path: '/data',
    id: 'claimed',
    prepareId: async (newId: string) => void prepared.push(newId),
    finishId: async () => {},
  };
  const claim = (folderInstance: string) =>
    claimNode({ id: 'new', ...identity, folderInstance }, { repository, folder, isDatabaseInFolder: false, logger });
  return { claim, prepared, repository, calls };
}

for (const [what, stoppedAt, folderInstance, ids] of [
  ['keeps its id after a clean stop and a restart of the machine', 1, 'folder.second start', 0],
  ['keeps its id after a crash without a restart of the machine', null, 'folder.first start', 0],
  ['that is a copy gets a new id after a clean stop', 1, 'copy.first start', 1],
  [
    'gets a new id after a crash of the machine, because it may be the copy of a machine',
    null,
    'folder.second start',
    1,
  ],
] as const)
  test(`a data folder ${what}`, async () => {
    const { claim, prepared } = openStore(stoppedAt);
    await claim(folderInstance);
    assert.equal(prepared.length, ids);
  });

test('a node that no other process can replace writes no heartbeats, and stores its stop', async () => {
  const { repository, calls } = openStore(null);
  const node = await openNode({ nodeId: 'new', repository, kind: 'alone', logger, metrics: createMetrics() });
  await node.close();
  assert.deepEqual(calls, { renewed: 0, stopped: 1 });
});

test('a late change of a process with a data folder waits until a heartbeat allows changes again', async () => {
  const { repository, calls } = openStore(null);
  let allowed = 0;
  let refused: () => Promise<void> | void = () => {};
  const fence = {
    allowUntil: () => void allowed++,
    onRefused: (callback: typeof refused) => {
      refused = callback;
    },
  };
  const node = await openNode({ nodeId: 'new', repository, kind: 'folder', fence, logger, metrics: createMetrics() });
  await refused();
  assert.deepEqual([calls.renewed, allowed], [1, 2]);
  await refused();
  assert.ok(calls.renewed >= 2 && allowed === calls.renewed + 1);
  await node.close();
});
