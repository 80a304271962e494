import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentMs } from '../../platform/nodes/node-repository.ts';
import { temporaryDatabases } from '../database/testing/temporary-databases.ts';
import { createIdempotencyRepository } from './idempotency-repository.ts';
import { createNodeRepository } from './node-repository.ts';
import { createStoreRepository } from './store-repository.ts';

const settings = { encryptionKeys: [], equal: {} };
const nodeOf = (id: string) =>
  ({ id, serves: 'both', host: 'h', version: '1', folderInstance: `folder of ${id}`, settings }) as const;

for (const [name, open] of Object.entries(temporaryDatabases))
  test(`only one of several concurrent claims of a node succeeds, and the replaced node cannot write a heartbeat: ${name}`, async (t) => {
    const { database, close } = await open();
    t.after(close);
    const nodes = createNodeRepository(database);
    const store = createStoreRepository(database);
    await store.claimFolder('first', null);
    const folderId = { from: 'first', to: 'first' };
    assert.equal(await nodes.find(), undefined);
    assert.equal(await nodes.claim(nodeOf('a'), { replaced: undefined, folderId }), true);
    const replaced = await nodes.find();
    assert.deepEqual([replaced?.id, replaced?.stoppedAt, (replaced?.silentFor ?? -1) >= 0], ['a', null, true]);

    const claims = ['b', 'c', 'd'].map((id) =>
      nodes.claim(nodeOf(id), { replaced, folderId: { from: 'first', to: `folder of ${id}` } }),
    );
    const outcomes = await Promise.all(claims);
    assert.equal(outcomes.filter((outcome) => outcome).length, 1);
    const winner = await nodes.find();
    assert.equal((await store.readIdentity()).folderId, winner?.folderInstance);
    assert.equal(await nodes.renew('a'), undefined);
    assert.equal(await nodes.renew(winner?.id ?? ''), 1);
    await nodes.stop(winner?.id ?? '');
    assert.notEqual((await nodes.find())?.stoppedAt, null);
  });

for (const [name, open] of Object.entries(temporaryDatabases))
  test(`a node that wrote a heartbeat since it was found is not replaced: ${name}`, async (t) => {
    const { database, close } = await open();
    t.after(close);
    const nodes = createNodeRepository(database);
    await createStoreRepository(database).claimFolder('first', null);
    const folderId = { from: 'first', to: 'first' };
    await nodes.claim(nodeOf('a'), { replaced: undefined, folderId });
    const found = await nodes.find();
    assert.ok(found);
    const replaced = { ...found, heartbeatAt: found.heartbeatAt - 1 };
    assert.equal(await nodes.claim(nodeOf('b'), { replaced, folderId: { from: 'first', to: 'second' } }), false);
    assert.equal(await nodes.claim(nodeOf('b'), { replaced: found, folderId: { from: 'other', to: 'second' } }), false);
    assert.equal((await nodes.find())?.id, 'a');
    assert.equal((await createStoreRepository(database).readIdentity()).folderId, 'first');
  });

for (const [name, open] of Object.entries(temporaryDatabases))
  test(`one running node leads a task, and another one takes over when it has stopped or is silent: ${name}`, async (t) => {
    const { database, close } = await open();
    t.after(close);
    const nodes = createNodeRepository(database);
    const ids = ['a', 'b', 'c'];
    for (const id of ids)
      assert.equal(await nodes.register({ ...nodeOf(id), folderInstance: '' }, () => true), undefined);
    /** Each node that has not ended asks at the same time. */
    const leadersOf = async (task: string, ...ended: readonly string[]) => {
      const asking = ids.filter((id) => !ended.includes(id));
      const led = await Promise.all(asking.map((id) => nodes.lead(task, id)));
      return asking.filter((_, index) => led[index]);
    };
    const [leader = '', ...others] = await leadersOf('sweep');
    assert.deepEqual(others, []);
    assert.deepEqual(await leadersOf('sweep'), [leader]);
    await nodes.stop(leader);
    const [second = '', ...more] = await leadersOf('sweep', leader);
    assert.deepEqual([more, second === ''], [[], false]);
    const old = { heartbeat_at: Date.now() - 60_000 };
    await database.write.updateTable('node').set(old).where('id', '=', second).execute();
    const third = await leadersOf('sweep', leader, second);
    assert.deepEqual(
      third,
      ids.filter((id) => id !== leader && id !== second),
    );
    await nodes.renew(second);
    assert.deepEqual(await leadersOf('sweep', leader), third);
  });

for (const [name, open] of Object.entries(temporaryDatabases))
  test(`a node is registered unless a running one does not fit, and replaces the ended node of its address: ${name}`, async (t) => {
    const { database, close } = await open();
    t.after(close);
    const nodes = createNodeRepository(database);
    const shared = (id: string) => ({ ...nodeOf(id), folderInstance: '' });
    const facts = { address: 'http://127.0.0.1:8080', capabilities: { ocr: true } };
    await nodes.register(shared('a'), () => true);
    await nodes.publish('a', facts);
    assert.equal((await nodes.register(shared('b'), () => false))?.id, 'a');
    assert.deepEqual(
      (await nodes.list()).map(({ id, capabilities }) => [id, capabilities]),
      [['a', { ocr: true }]],
    );
    assert.equal(await nodes.renew('b'), undefined);
    await nodes.stop('a');
    assert.equal(await nodes.register(shared('b'), () => false), undefined);
    assert.equal(await nodes.renew('b'), 1);
    assert.equal((await nodes.list()).length, 2);
    await nodes.publish('b', facts);
    assert.deepEqual(
      (await nodes.list()).map(({ id, address }) => [id, address]),
      [['b', facts.address]],
    );
    // Two starts that do not fit each other: one is refused.
    const outcomes = await Promise.all(['c', 'd'].map((id) => nodes.register(shared(id), (other) => other.id === 'b')));
    assert.equal(outcomes.filter((other) => other === undefined).length, 1);
  });

test('a request is repeated as soon as its node is silent for 8 s, also before the node counts as ended', async (t) => {
  const { database, close } = await temporaryDatabases.PostgreSQL();
  t.after(close);
  await createNodeRepository(database).register({ ...nodeOf('silent'), folderInstance: '' }, () => true);
  const keys = createIdempotencyRepository(database);
  const claim = {
    projectId: 'p',
    operation: 'upload' as const,
    key: 'k',
    callerId: 'c',
    heldUntil: 1000,
    isRepeatable: true,
  };
  const silentFor = async (ms: number) => {
    await database.write
      .updateTable('node')
      .set({ heartbeat_at: database.clock.now() - ms })
      .execute();
    return (await keys.claim({ ...claim, nodeId: 'other' }, 1)).kind;
  };
  assert.equal((await keys.claim({ ...claim, nodeId: 'silent' }, 1)).kind, 'claimed');
  // In the future, because a busy machine may need seconds for the claim.
  assert.equal(await silentFor(-600_000), 'running');
  assert.equal(await silentFor(silentMs + 1_000), 'claimed');
});
