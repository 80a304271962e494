import { sql } from 'kysely';
import { lowestIdAt } from '../../platform/identifier.ts';
import type { RunBounds } from '../../tools/runs/run-repository.ts';
import type { Database } from '../database/database.ts';

/** Deletes runs beyond the limits, one project after another. */
export async function sweepRuns(database: Database, { notBefore, most }: RunBounds, limit: number): Promise<number> {
  let deleted = 0;
  for (let project = await nextProject(database, ''); project !== undefined && deleted < limit; ) {
    const first = await firstToKeep(database, project, { notBefore, most });
    if (first !== null) deleted += await deleteBefore(database, { project, before: first, limit: limit - deleted });
    project = await nextProject(database, project);
  }
  return deleted;
}

/** Finds the next project by the primary key. A `distinct` would read every row. */
async function nextProject({ read }: Database, after: string): Promise<string | undefined> {
  const row = await read
    .selectFrom('run')
    .select('project_id')
    .where('project_id', '>', after)
    .orderBy('project_id')
    .limit(1)
    .executeTakeFirst();
  return row?.project_id;
}

/** Returns the first id to keep. Runs before it exceed one of the limits; null when none does. */
async function firstToKeep(
  { read }: Database,
  project: string,
  { notBefore, most }: RunBounds,
): Promise<string | null> {
  const byAge = lowestIdAt('run', notBefore);
  const ids = read.selectFrom('run').select('id').where('project_id', '=', project);
  const oldest = await ids.orderBy('id').limit(1).executeTakeFirst();
  // This run is the newest one beyond the limit. It is deleted, and the runs after it stay.
  const surplus = await ids.orderBy('id', 'desc').offset(most).limit(1).executeTakeFirst();
  const byCount = surplus === undefined ? '' : `${surplus.id}\x01`;
  const first = byAge > byCount ? byAge : byCount;
  return oldest !== undefined && oldest.id < first ? first : null;
}

async function deleteBefore(
  { write }: Database,
  { project, before, limit }: { project: string; before: string; limit: number },
): Promise<number> {
  return await write.transaction().execute(async (transaction) => {
    const rows = await transaction
      .selectFrom('run')
      .select('id')
      .where('project_id', '=', project)
      .where('id', '<', before)
      // A run in progress belongs to a process until it ends or its lease expires.
      .where('outcome', 'is not', null)
      .orderBy('id')
      .limit(limit)
      .execute();
    const last = rows.at(-1)?.id;
    if (last === undefined) return 0;
    const ofProject = ['project_id', '=', project] as const;
    await transaction
      .deleteFrom('run_result')
      .where(...ofProject)
      .where('run_id', '<=', last)
      .execute();
    await transaction
      .deleteFrom('run')
      .where(...ofProject)
      .where('id', '<=', last)
      .where('outcome', 'is not', null)
      .execute();
    return rows.length;
  });
}

/**
 * Each project keeps its newest results up to the same number of bytes, so a project with many results affects only its
 * own. Expired results are deleted whatever the sum is.
 */
export async function sweepResults(
  { read, write }: Database,
  now: number,
  { maxBytes, limit }: { maxBytes: number; limit: number },
): Promise<number> {
  const { rows } = await sql<{ project_id: string; run_id: string }>`
    select project_id, run_id from (
      select project_id, run_id, expires_at, sum(bytes) over (order by newer_of_project, project_id, run_id) as kept
      from (
        select project_id, run_id, expires_at, bytes,
          sum(bytes) over (partition by project_id order by expires_at desc, run_id desc) as newer_of_project
        from run_result
      ) as of_project
    ) as result
    where expires_at <= ${now} or kept > ${maxBytes} order by expires_at limit ${limit}`.execute(read);
  if (rows.length === 0) return 0;
  await write.transaction().execute(async (transaction) => {
    for (const { project_id, run_id } of rows) {
      await transaction
        .deleteFrom('run_result')
        .where('project_id', '=', project_id)
        .where('run_id', '=', run_id)
        .execute();
    }
  });
  return rows.length;
}
