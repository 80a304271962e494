import assert from 'node:assert/strict';
import { test } from 'node:test';
import { temporaryDatabases } from '../database/testing/temporary-databases.ts';
import { createNodeRepository } from './blob-repository.ts';
import { createStoreRepository } from './store-repository.ts';

const nodeOf = (id: string) =>
  ({ id, serves: 'both', host: 'h', version: '1', folderInstance: `folder of ${id}` }) as const;

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
    assert.equal(await nodes.renew('a'), false);
    assert.equal(await nodes.renew(winner?.id ?? ''), true);
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
