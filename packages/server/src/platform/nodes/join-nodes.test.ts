import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '../log/logger.ts';
import { createMetrics } from '../metrics.ts';
import { joinNodes } from './join-nodes.ts';
import type { NodeRepository, StoredNode } from './node-repository.ts';
import { openNode } from './open-node.ts';

const logger = createLogger('silent');
const settings = { encryptionKeys: ['k1'], equal: { URL: 'a' } };
const about = { serves: 'both', host: 'h', version: '1', folderInstance: '' } as const;
const times = { startedAt: 0, heartbeatAt: 0, stoppedAt: null, silentFor: 0 };
const other: StoredNode = { id: 'other', ...about, ...times, address: 'http://h', capabilities: {}, settings };

/** @param looks what the others are at each look; the last one stays */
function join(looks: ReadonlyArray<StoredNode | undefined>, own: Partial<StoredNode['settings']>) {
  let look = 0;
  const repository: Pick<NodeRepository, 'list' | 'register'> = {
    list: async () => [],
    register: async (_, fits) => {
      const found = looks[Math.min(look++, looks.length - 1)];
      return found === undefined || fits(found) ? undefined : found;
    },
  };
  return joinNodes({ id: 'new', ...about, settings: { ...settings, ...own } }, { repository, logger });
}

test('a node is refused when the heartbeat of one that does not fit advances, and starts when that one has ended', async () => {
  const unlike = { equal: { URL: 'b' } };
  await assert.rejects(join([other, { ...other, heartbeatAt: 1 }], unlike), /URL differs .*: b here, a at node other/);
  await join([other, undefined], unlike);
});

test('nodes fit when each has the key with which the other encrypts, and when one lacks a setting that the other has', async () => {
  await join([other], { equal: {} });
  await join([other], { encryptionKeys: ['k1', 'k2'] });
  const rotated = { ...other, settings: { ...settings, encryptionKeys: ['k1', 'k2'] } };
  await join([rotated], { encryptionKeys: ['k2', 'k1'] });
  for (const encryptionKeys of [['k2'], ['k2', 'k1'], []])
    await assert.rejects(join([other, { ...other, heartbeatAt: 1 }], { encryptionKeys }), /The encryption keys differ/);
  await join([{ ...other, serves: 'files' }], { encryptionKeys: ['k2'] });
});

test('a shared node whose row is gone registers again, and asks for the lead of a task once per heartbeat', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const calls: string[] = [];
  let isGone = false;
  const record = (name: string) => async () => void calls.push(name);
  const repository = {
    renew: async () => (isGone ? undefined : 3),
    publish: record('publish'),
    stop: record('stop'),
    lead: async () => calls.push('lead') > 0,
  } as unknown as NodeRepository;
  const metrics = createMetrics();
  const rejoin = record('rejoin');
  const node = await openNode({ nodeId: 'n', repository, kind: 'shared', rejoin, logger, metrics });
  await node.publish({ address: '', capabilities: {} });
  const task = node.ofLeader({ name: 'task', pause: 1, run: record('run') });
  const { signal } = new AbortController();
  for (let n = 0; n < 2; n++) await task.run(signal);
  isGone = true;
  t.mock.timers.tick(5000);
  await new Promise(setImmediate);
  await task.run(signal);
  assert.match(await metrics.metrics(), /quartermaster_nodes 3/);
  await node.close();
  assert.deepEqual(calls, ['publish', 'lead', 'run', 'run', 'rejoin', 'publish', 'lead', 'run', 'stop']);
});
