import { type Kysely, type Selectable, sql } from 'kysely';
import { leaseMs, type NewNode, type NodeRepository, type StoredNode } from '../../platform/nodes/node-repository.ts';
import type { Database } from '../database/database.ts';
import { databaseNow } from '../database/like-pattern.ts';
import type { NodeTable, Tables } from '../database/tables.ts';

/** A row of an earlier version has none. */
const noSettings: StoredNode['settings'] = { encryptionKeys: [], equal: {} };
const dayMs = 24 * 3_600_000;

/** Stores nodes in either database. Heartbeats use the connection that never waits for other work. */
export function createNodeRepository({ dialect, write, leases }: Database): NodeRepository {
  const now = databaseNow(dialect);
  const isRunning = sql<boolean>`(node.stopped_at is null and node.heartbeat_at > ${now} - ${leaseMs})`;
  /** True for a node that no start of a data folder needs. */
  const isShared = sql<boolean>`(node.folder_instance = '')`;
  const nodesOf = (connection: Kysely<Tables>) =>
    connection.selectFrom('node').selectAll().select(sql<number>`${now} - heartbeat_at`.as('silent_for'));
  const add = (transaction: Kysely<Tables>, node: NewNode) =>
    transaction
      .insertInto('node')
      .values({ ...toRow(node), stopped_at: null, started_at: now, heartbeat_at: now })
      .execute();

  return {
    async find() {
      const rows = nodesOf(write).where('serves', '<>', 'plugins').orderBy('heartbeat_at', 'desc');
      const row = await rows.executeTakeFirst();
      return row && fromRow(row);
    },
    async list() {
      return (await nodesOf(write).orderBy('started_at').orderBy('id').execute()).map(fromRow);
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
        await add(transaction, node);
        return true;
      }),
    register: (node, fits) =>
      write.transaction().execute(async (transaction) => {
        // Locks the row of the store, so that two starts at the same time see each other.
        await transaction
          .updateTable('store')
          .set((row) => ({ folder_id: row.ref('folder_id') }))
          .execute();
        const running = (await nodesOf(transaction).where(isRunning).execute()).map(fromRow);
        const unfit = running.find((other) => other.id !== node.id && !fits(other));
        if (unfit !== undefined) return unfit;
        const ended = transaction.deleteFrom('node').where(isShared);
        await ended.where(sql<boolean>`coalesce(stopped_at, heartbeat_at) < ${now} - ${dayMs}`).execute();
        await add(transaction, node);
        return undefined;
      }),
    async publish(nodeId, { address, capabilities }) {
      const facts = { address, capabilities: JSON.stringify(capabilities) };
      await write.updateTable('node').set(facts).where('id', '=', nodeId).execute();
      const same = sql<boolean>`host = (select own.host from node as own where own.id = ${nodeId})`;
      const ended = write.deleteFrom('node').where(isShared).where('id', '<>', nodeId).where('address', '=', address);
      await ended.where(same).where(sql<boolean>`not ${isRunning}`).execute();
    },
    async renew(nodeId) {
      // The statement reads the rows as they were before its own change.
      const others = sql<number>`(select count(*) from node where id <> ${nodeId} and ${isRunning})`;
      const renewed = leases.updateTable('node').set({ heartbeat_at: now }).where('id', '=', nodeId);
      const row = await renewed.returning(others.as('others')).executeTakeFirst();
      return row && Number(row.others) + 1;
    },
    async stop(nodeId) {
      await leases.updateTable('node').set({ stopped_at: now }).where('id', '=', nodeId).execute();
    },
    async lead(task, nodeId) {
      const leader = sql<boolean>`exists (select 1 from node where node.id = task_leader.node_id and ${isRunning})`;
      const leaders = leases.selectFrom('task_leader').select(['node_id', leader.as('is_running')]);
      const found = await leaders.where('task', '=', task).executeTakeFirst();
      if (found?.node_id === nodeId || found?.is_running) return found.node_id === nodeId;
      const led = leases
        .insertInto('task_leader')
        .values({ task, node_id: nodeId })
        .onConflict((conflict) =>
          conflict.column('task').doUpdateSet({ node_id: nodeId }).where(sql<boolean>`not ${leader}`),
        );
      return (await led.returning('task').execute()).length > 0;
    },
  };
}

function toRow({ folderInstance, settings, ...node }: NewNode) {
  return {
    ...node,
    folder_instance: folderInstance,
    settings: JSON.stringify(settings),
    address: '',
    capabilities: '{}',
  };
}

function fromRow(row: Selectable<NodeTable> & { readonly silent_for: number }): StoredNode {
  const { folder_instance: folderInstance, started_at: startedAt, heartbeat_at: heartbeatAt } = row;
  const { id, host, version, address, stopped_at: stoppedAt, silent_for: silentFor } = row;
  const about = { id, host, version, address, folderInstance, startedAt, heartbeatAt, stoppedAt, silentFor };
  return {
    ...about,
    // This file writes these texts.
    serves: row.serves as StoredNode['serves'],
    settings: { ...noSettings, ...(JSON.parse(row.settings) as Partial<StoredNode['settings']>) },
    capabilities: JSON.parse(row.capabilities) as StoredNode['capabilities'],
  };
}
