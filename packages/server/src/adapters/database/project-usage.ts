import type { Kysely, Transaction } from 'kysely';
import type { Tables } from './tables.ts';

/**
 * Adds to what the files of a project take, or takes from it, and holds it until the transaction ends: nobody else adds
 * meanwhile, in whatever process. Before any blob is held, in every transaction: two that hold one each would wait for
 * each other. @returns the new sum.
 */
export async function changeUsage(transaction: Transaction<Tables>, projectId: string, bytes: number): Promise<number> {
  const { file_bytes } = await transaction
    .insertInto('project_usage')
    .values({ project_id: projectId, file_bytes: bytes })
    .onConflict((conflict) =>
      conflict
        .column('project_id')
        .doUpdateSet((set) => ({ file_bytes: set('project_usage.file_bytes', '+', set.ref('excluded.file_bytes')) })),
    )
    .returning('file_bytes')
    .executeTakeFirstOrThrow();
  return Number(file_bytes);
}

export async function findUsage(db: Kysely<Tables>, projectId: string): Promise<number> {
  const row = await db
    .selectFrom('project_usage')
    .select('file_bytes')
    .where('project_id', '=', projectId)
    .executeTakeFirst();
  return Number(row?.file_bytes ?? 0);
}
