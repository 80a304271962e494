import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leaseMs } from '../../platform/nodes/node-repository.ts';
import { temporaryDatabases } from '../database/testing/temporary-databases.ts';
import { countNodes } from './count-nodes.ts';

for (const [name, open] of Object.entries(temporaryDatabases)) {
  test(`nodes that stopped or write no heartbeats are not counted: ${name}`, async () => {
    const { database, close } = await open();
    try {
      const now = database.clock.now();
      const node = {
        host: 'h',
        version: '1',
        folder_instance: '',
        started_at: now,
        settings: '{}',
        address: '',
        capabilities: '{}',
      };
      const rows = [
        { id: 'a', serves: 'both', heartbeat_at: now, stopped_at: null },
        { id: 'b', serves: 'plugins', heartbeat_at: now - leaseMs / 2, stopped_at: null },
        { id: 'c', serves: 'files', heartbeat_at: now, stopped_at: null },
        { id: 'd', serves: 'plugins', heartbeat_at: now, stopped_at: now },
        { id: 'e', serves: 'both', heartbeat_at: now - 2 * leaseMs, stopped_at: null },
      ];
      assert.deepEqual(await countNodes(database), { files: 0, plugins: 0 });
      await database.write
        .insertInto('node')
        .values(rows.map((row) => ({ ...node, ...row })))
        .execute();
      assert.deepEqual(await countNodes(database), { files: 2, plugins: 2 });
    } finally {
      await close();
    }
  });
}
