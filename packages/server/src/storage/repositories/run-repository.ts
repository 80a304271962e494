import { type ExecuteResult, maxCounted, type RunQuery } from '@quartermaster/contract';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { lowestIdAt } from '../../platform/identifier.ts';
import { parseExactJson } from '../../platform/json/exact-json.ts';
import type { Page, Total } from '../../platform/page.ts';
import type { RunRepository, StoredRun } from '../../tools/runs/run-repository.ts';
import { countRows } from '../database/count-rows.ts';
import type { Database } from '../database/database.ts';
import { type KeysetWindow, readKeysetPage } from '../database/keyset-page.ts';
import type { Tables } from '../database/tables.ts';
import { createAsynchronousRuns } from './asynchronous-runs.ts';
import { insertRuns, packRun, toRun, unpackRun } from './run-rows.ts';
import { sweepResults, sweepRuns } from './sweep-runs.ts';

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
        .where('project_id', '=', projectId)
        .where('id', '=', runId)
        .executeTakeFirst();
      return row === undefined ? undefined : toRun(row);
    },
    findResult: async (projectId, runId, now) => {
      const row = await read
        .selectFrom('run_result')
        .select(['result', 'expires_at'])
        .where('project_id', '=', projectId)
        .where('run_id', '=', runId)
        .where('expires_at', '>', now)
        .executeTakeFirst();
      // `end` wrote the value.
      return row && { result: parseExactJson(row.result) as ExecuteResult, expiresAt: row.expires_at };
    },
    list: (projectId, query, recent) => listRuns(database, projectId, { query, recent }),
    sweep: (bounds, limit) => sweepRuns(database, bounds, limit),
    sweepResults: (now, bounds) => sweepResults(database, now, bounds),
  };
}

async function listRuns(
  { read }: Database,
  projectId: string,
  { query, recent }: { query: RunQuery; recent: readonly StoredRun[] },
): Promise<Page<StoredRun>> {
  const { bundle_id: bundleId, plugin_id: pluginId, outcome, since } = query;
  const wanted = recent.filter((run) => isWanted(run, query));
  const readPage = async ({ bounds, direction, limit }: KeysetWindow) => {
    let rows = read.selectFrom('run').selectAll().where('project_id', '=', projectId);
    if (bundleId !== undefined) rows = rows.where('bundle_id', '=', bundleId);
    if (pluginId !== undefined) rows = rows.where('plugin_id', '=', pluginId);
    if (since !== undefined) rows = rows.where('id', '>=', lowestIdAt('run', since));
    if (outcome === 'none') rows = rows.where('outcome', 'is', null);
    else if (outcome !== undefined) rows = rows.where('outcome', '=', outcome);
    // The condition is redundant, but makes the partial index usable.
    if (outcome !== undefined && outcome !== 'none' && outcome !== 'succeeded') {
      rows = rows.where('outcome', '<>', 'succeeded');
    }
    for (const bound of bounds) rows = rows.where('id', bound.compare, bound.id);
    const stored = (await rows.orderBy('id', direction).limit(limit).execute()).map(toRun);
    const known = new Set(stored.map((run) => run.id));
    const unstored = wanted.filter(
      ({ id }) =>
        !known.has(id) && bounds.every(({ compare, id: bound }) => (compare === '<' ? id < bound : id > bound)),
    );
    const sign = direction === 'asc' ? 1 : -1;
    return [...stored, ...unstored].sort((a, b) => (a.id < b.id ? -sign : sign)).slice(0, limit);
  };
  return await readKeysetPage(query, readPage, () => countRuns(read, projectId, { query, wanted }));
}

/** Counts the runs of a list. A filter that has an index selects the rows that are read; the others are checked on them. */
async function countRuns(
  read: Kysely<Tables>,
  projectId: string,
  { query, wanted }: { query: RunQuery; wanted: readonly StoredRun[] },
): Promise<Total> {
  const { bundle_id: bundleId, plugin_id: pluginId, outcome, since } = query;
  let rows = read.selectFrom('run').where('project_id', '=', projectId);
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

function isWanted(run: StoredRun, { bundle_id: bundleId, plugin_id: pluginId, outcome, since }: RunQuery): boolean {
  if (bundleId !== undefined && run.bundleId !== bundleId) return false;
  if (pluginId !== undefined && run.pluginId !== pluginId) return false;
  if (since !== undefined && run.id < lowestIdAt('run', since)) return false;
  return outcome === undefined || outcome === (run.end === null ? 'none' : run.end.outcome);
}
