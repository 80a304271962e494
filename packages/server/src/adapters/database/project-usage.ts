import { type Kysely, sql, type Transaction } from 'kysely';
import type { WrongUsage } from '../../files/file-repository.ts';
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

/** One statement, so that it sees one moment. */
export async function findWrongUsages(db: Kysely<Tables>): Promise<WrongUsage[]> {
  const kept = db
    .selectFrom('project_usage')
    .select(['project_id', 'file_bytes as found', sql<number>`0`.as('expected')]);
  const made = db
    .selectFrom('file')
    .where('state', '=', 'live')
    .groupBy('project_id')
    .select(({ fn }) => ['project_id', sql<number>`0`.as('found'), fn.sum<number>('bytes').as('expected')]);
  const rows = await db
    .selectFrom(kept.unionAll(made).as('side'))
    .groupBy('project_id')
    .select(({ fn }) => ['project_id', fn.sum('found').as('found'), fn.sum('expected').as('expected')])
    .having(sql<boolean>`sum(found) <> sum(expected)`)
    .orderBy('project_id')
    .execute();
  return rows.map((row) => ({
    projectId: row.project_id,
    expected: Number(row.expected),
    found: Number(row.found),
  }));
}

/** Nobody adds or takes meanwhile, so that the sum made is the sum kept. */
export async function correctUsage(transaction: Transaction<Tables>, projectId: string): Promise<void> {
  const found = await changeUsage(transaction, projectId, 0);
  const { expected } = await transaction
    .selectFrom('file')
    .where('project_id', '=', projectId)
    .where('state', '=', 'live')
    .select(({ fn }) => fn.sum('bytes').as('expected'))
    .executeTakeFirstOrThrow();
  await changeUsage(transaction, projectId, Number(expected ?? 0) - found);
}
