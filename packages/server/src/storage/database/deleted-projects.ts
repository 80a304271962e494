import type { DeletedCount } from '@quartermaster/contract';
import { sql, type Transaction } from 'kysely';
import { objectNotFound } from '../../platform/problem.ts';
import type { Database } from './database.ts';
import type { Tables } from './tables.ts';

/**
 * Returns those of the projects that are being deleted or were deleted. Until the transaction ends, no deletion of the others begins: the lock of
 * PostgreSQL conflicts with that of a deletion, and SQLite runs one write transaction at a time.
 */
export async function findDeleted(
  transaction: Transaction<Tables>,
  dialect: Database['dialect'],
  projects: ReadonlyArray<string | null>,
): Promise<ReadonlySet<string | null>> {
  const projectIds = [...new Set(projects)].filter((id) => id !== null);
  if (projectIds.length === 0) return new Set();
  if (dialect === 'postgres') {
    const rows = transaction.selectFrom('project').select('id').where('id', 'in', projectIds);
    await rows.orderBy('id').forKeyShare().execute();
  }
  const rows = await transaction
    .selectFrom('project_deletion')
    .select('project_id')
    .where('project_id', 'in', projectIds)
    .execute();
  return new Set(rows.map((row) => row.project_id));
}

/** @throws Problem OBJECT_NOT_FOUND for a project that is being deleted or was deleted */
export async function assertNotDeleted(
  transaction: Transaction<Tables>,
  dialect: Database['dialect'],
  projectId: string,
): Promise<void> {
  const deleted = await findDeleted(transaction, dialect, [projectId]);
  if (deleted.size > 0) throw objectNotFound('project', projectId);
}

/**
 * Adds to the counts of a deletion, in the transaction that deletes. Changes nothing for other projects. It is called after the last
 * other lock, because two processes may delete the same project.
 */
export async function countDeleted(
  transaction: Transaction<Tables>,
  projectId: string,
  counts: Partial<Record<DeletedCount, number>>,
): Promise<void> {
  const changes = Object.entries(counts).map(([name, count]) => [name, sql`${sql.ref(name)} + ${count}`]);
  await transaction
    .updateTable('project_deletion')
    .set({ steps: sql<number>`steps + 1`, ...Object.fromEntries(changes) })
    .where('project_id', '=', projectId)
    .where('ended_at', 'is', null)
    .execute();
}
