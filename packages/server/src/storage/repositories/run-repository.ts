import { type ExecuteResult, maxCounted, type RunQuery } from '@quartermaster/contract';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { lowestIdAt } from '../../platform/identifier.ts';
import { parseExactJson } from '../../platform/json/exact-json.ts';
import type { Page, Total } from '../../platform/page.ts';
import { projectText } from '../../platform/project-text.ts';
import type { RunBounds, RunRepository, SeenRuns, StoredRun } from '../../tools/runs/run-repository.ts';
import type { Database } from '../database/database.ts';
import { type KeysetWindow, readKeysetPage, rowsWithin } from '../database/keyset-page.ts';
import { countRows } from '../database/row-limit.ts';
import type { Tables } from '../database/tables.ts';
import { createAsynchronousRuns } from './asynchronous-runs.ts';
import { insertRuns, packRun, toRun, unpackRun } from './run-rows.ts';

/** Stores runs in either database. */
export function createRunRepository(database: Database): RunRepository {
  const { read, write, dialect } = database;
  return {
    ...createAsynchronousRuns(database),
    pack: packRun,
    unpack: unpackRun,
    add: (runs) => write.transaction().execute((transaction) => insertRuns(transaction, dialect, runs)),
    find: async (projectId, runId) => {
      const row = await read
        .selectFrom('run')
        .selectAll()
        .where('project_id', '=', projectText(projectId))
        .where('id', '=', runId)
        .executeTakeFirst();
      return row === undefined ? undefined : toRun(row);
    },
    findResult: async (projectId, runId, now) => {
      const row = await read
        .selectFrom('run_result')
        .select(['result', 'expires_at'])
        .where('project_id', '=', projectText(projectId))
        .where('run_id', '=', runId)
        .where('expires_at', '>', now)
        .executeTakeFirst();
      // `end` wrote the value.
      return row && { result: parseExactJson(row.result) as ExecuteResult, expiresAt: row.expires_at };
    },
    list: (projectId, query, seen) => listRuns(database, projectId, { query, seen }),
    sweep: (bounds, limit) => sweepRuns(database, bounds, limit),
    sweepResults: (now, bounds) => sweepResults(database, now, bounds),
  };
}

async function listRuns(
  { read }: Database,
  projectId: string | null,
  { query, seen: { recent, permissions } }: { query: RunQuery; seen: SeenRuns },
): Promise<Page<StoredRun>> {
  const { bundle_id: bundleId, plugin_id: pluginId, outcome, since } = query;
  const wanted = recent.filter((run) => isWanted(run, query));
  const readPage = async (window: KeysetWindow) => {
    const { bounds, direction, limit } = window;
    let rows = read
      .selectFrom('run')
      .selectAll()
      .where('project_id', '=', projectText(projectId))
      .where(isSeen(permissions));
    if (bundleId !== undefined) rows = rows.where('bundle_id', '=', bundleId);
    if (pluginId !== undefined) rows = rows.where('plugin_id', '=', pluginId);
    if (since !== undefined) rows = rows.where('id', '>=', lowestIdAt('run', since));
    if (outcome === 'none') rows = rows.where('outcome', 'is', null);
    else if (outcome !== undefined) rows = rows.where('outcome', '=', outcome);
    // The condition is redundant, but makes the partial index usable.
    if (outcome !== undefined && outcome !== 'none' && outcome !== 'succeeded') {
      rows = rows.where('outcome', '<>', 'succeeded');
    }
    const stored = (await rowsWithin(rows, window).execute()).map(toRun);
    const known = new Set(stored.map((run) => run.id));
    const unstored = wanted.filter(
      ({ id }) =>
        !known.has(id) && bounds.every(({ compare, id: bound }) => (compare === '<' ? id < bound : id > bound)),
    );
    const sign = direction === 'asc' ? 1 : -1;
    return [...stored, ...unstored].sort((a, b) => (a.id < b.id ? -sign : sign)).slice(0, limit);
  };
  return await readKeysetPage(query, readPage, () => countRuns(read, projectId, { query, wanted, permissions }));
}

/** Counts the runs of a list. A filter that has an index selects the rows that are read; the others are checked on them. */
async function countRuns(
  read: Kysely<Tables>,
  projectId: string | null,
  { query, wanted, permissions }: Omit<SeenRuns, 'recent'> & { query: RunQuery; wanted: readonly StoredRun[] },
): Promise<Total> {
  const { bundle_id: bundleId, plugin_id: pluginId, outcome, since } = query;
  let rows = read.selectFrom('run').where('project_id', '=', projectText(projectId)).where(isSeen(permissions));
  if (since !== undefined) rows = rows.where('id', '>=', lowestIdAt('run', since));
  const conditions: Array<RawBuilder<boolean>> = [];
  if (bundleId !== undefined) rows = rows.where('bundle_id', '=', bundleId);
  else if (outcome !== undefined && outcome !== 'none' && outcome !== 'succeeded') {
    rows = rows.where('outcome', '=', outcome).where('outcome', '<>', sql.lit('succeeded'));
  }
  if (pluginId !== undefined) conditions.push(sql`run.plugin_id = ${pluginId}`);
  if (outcome === 'none') conditions.push(sql`run.outcome is null`);
  else if (outcome !== undefined) conditions.push(sql`run.outcome = ${outcome}`);
  // For a moment, a run is both in memory and in the database.
  if (wanted.length > 0) conditions.push(sql`run.id not in (${sql.join(wanted.map(({ id }) => id))})`);
  const stored = await countRows(read, rows.orderBy('id', 'desc'), conditions);
  const count = stored.count + wanted.length;
  return { count: Math.min(count, maxCounted), isExact: stored.isExact && count <= maxCounted };
}

/** The runs of the plugins that a reader sees, as `Permissions` decides it: a run without a plugin checked credentials of a bundle. */
function isSeen({ tools, bundles }: SeenRuns['permissions']): RawBuilder<boolean> {
  if (tools === null || bundles === null) return sql<boolean>`1 = 1`;
  const names = sql.join([...tools]);
  return sql<boolean>`(run.bundle_id in (${names}) or run.bundle_id || '/' || run.plugin_id in (${names})
    or (run.plugin_id is null and run.bundle_id in (${sql.join([...bundles])})))`;
}

function isWanted(run: StoredRun, { bundle_id: bundleId, plugin_id: pluginId, outcome, since }: RunQuery): boolean {
  if (bundleId !== undefined && run.bundleId !== bundleId) return false;
  if (pluginId !== undefined && run.pluginId !== pluginId) return false;
  if (since !== undefined && run.id < lowestIdAt('run', since)) return false;
  return outcome === undefined || outcome === (run.end === null ? 'none' : run.end.outcome);
}

/** Deletes runs beyond the limits, one project after another. */
async function sweepRuns(database: Database, { notBefore, most }: RunBounds, limit: number): Promise<number> {
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
async function sweepResults(
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
