import { sql } from 'kysely';
import type { NodeCounts } from '../../platform/nodes/count-nodes.ts';
import { leaseMs } from '../../platform/nodes/node-repository.ts';
import type { Database } from '../database/database.ts';
import { databaseNow } from '../database/like-pattern.ts';

/** Counts the nodes that have written a heartbeat within a lease, by the clock of the database. */
export async function countNodes({ read, dialect }: Pick<Database, 'read' | 'dialect'>): Promise<NodeCounts> {
  const rows = await read
    .selectFrom('node')
    .select(['serves', sql<number>`count(*)`.as('nodes')])
    .where('stopped_at', 'is', null)
    .where('heartbeat_at', '>', sql<number>`${databaseNow(dialect)} - ${leaseMs}`)
    .groupBy('serves')
    .execute();
  const without = (other: string) => rows.reduce((sum, row) => sum + (row.serves === other ? 0 : Number(row.nodes)), 0);
  return { files: without('plugins'), plugins: without('files') };
}
