import { sql } from 'kysely';
import type { NodeRepository, StoredNode } from '../../platform/nodes/node-repository.ts';
import type { Database } from '../database/database.ts';
import { databaseNow } from '../database/database-now.ts';

/** Stores nodes in either database. Heartbeats use the connection that never waits for other work. */
export function createNodeRepository({ dialect, write, leases }: Database): NodeRepository {
  const now = databaseNow(dialect);
  return {
    async find() {
      const row = await write
        .selectFrom('node')
        .selectAll()
        .select(sql<number>`${now} - heartbeat_at`.as('silent_for'))
        .where('serves', '<>', 'plugins')
        .orderBy('heartbeat_at', 'desc')
        .executeTakeFirst();
      if (row === undefined) return undefined;
      const { folder_instance: folderInstance, started_at: startedAt, heartbeat_at: heartbeatAt } = row;
      const { id, host, version, stopped_at: stoppedAt, silent_for: silentFor } = row;
      // Only processes that serve files write rows.
      const serves = row.serves as StoredNode['serves'];
      return { id, serves, host, version, folderInstance, startedAt, heartbeatAt, stoppedAt, silentFor };
    },
    claim: (node, { replaced, folderId }) =>
      write.transaction().execute(async (transaction) => {
        // Locks the row of the store, so that only one process at a time can claim the node.
        const store = transaction.updateTable('store').where('folder_id', '=', folderId.from);
        const locked = await store.set({ folder_id: folderId.from }).executeTakeFirst();
        if (locked.numUpdatedRows !== 1n) return false;
        const found = await transaction
          .selectFrom('node')
          .select(['id', 'heartbeat_at'])
          .where('serves', '<>', 'plugins')
          .execute();
        if (found.some((row) => row.id !== replaced?.id || row.heartbeat_at !== replaced.heartbeatAt)) return false;
        if (folderId.to !== folderId.from) await store.set({ folder_id: folderId.to }).execute();
        await transaction.deleteFrom('node').where('serves', '<>', 'plugins').execute();
        const { id, serves, host, version, folderInstance } = node;
        const row = { id, serves, host, version, folder_instance: folderInstance, stopped_at: null };
        await transaction
          .insertInto('node')
          .values({ ...row, started_at: now, heartbeat_at: now })
          .execute();
        return true;
      }),
    async renew(nodeId) {
      const result = await leases
        .updateTable('node')
        .set({ heartbeat_at: now })
        .where('id', '=', nodeId)
        .executeTakeFirst();
      return result.numUpdatedRows === 1n;
    },
    async stop(nodeId) {
      await leases.updateTable('node').set({ stopped_at: now }).where('id', '=', nodeId).execute();
    },
  };
}
