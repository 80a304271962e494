import type { Isolation, RunOrigin, RunOutcome } from '@quartermaster/contract';
import { type Selectable, sql, type Transaction } from 'kysely';
import { parseExactJson } from '../../platform/json/exact-json.ts';
import { projectText, readProject } from '../../platform/project-text.ts';
import type { PackedRun, RunEnd, StoredRun } from '../../tools/runs/run-repository.ts';
import type { Database } from '../database/database.ts';
import { findDeleted } from '../database/deleted-projects.ts';
import type { RunTable } from '../database/run-tables.ts';
import { askThread } from '../database/sqlite-insert-many.ts';
import type { Tables } from '../database/tables.ts';

/** The parts of a run's end that no query uses. */
type Detail = Omit<RunEnd, 'outcome'>;

/** The members are in the order of the columns in {@link insertRuns}. */
export function packRun(run: StoredRun): PackedRun {
  const { id, projectId, bundleId, pluginId, origin, isolation, asynchronous, createdAt, lease, end } = run;
  const mode = asynchronous ? 'async' : 'sync';
  const [owner, until] = lease === null ? [null, null] : [lease.owner, lease.until];
  const ended = end === null ? [null, null] : [end.outcome, detailText(end)];
  const what = [bundleId, pluginId, origin, isolation, mode, createdAt];
  const values = [projectText(projectId), id, ...what, owner, until, ...ended];
  return { projectId, id, row: JSON.stringify(values) };
}

const columns = [
  ...['project_id', 'id', 'bundle_id', 'plugin_id', 'origin', 'isolation', 'mode', 'created_at'],
  ...['lease_owner', 'lease_until', 'outcome', 'detail'],
];

export function unpackRun({ row }: PackedRun): StoredRun {
  const values = parseExactJson(row) as unknown[]; // written by packRun
  const named = Object.fromEntries(
    columns.map((column, at) => [column, values[at]]),
  ) as unknown as Selectable<RunTable>;
  return toRun({ ...named, begun_at: null });
}

/**
 * Inserts rows and keeps existing ones unchanged. The rows are sent to either database as one JSON text. Runs of deleted projects
 * are left out.
 */
export async function insertRuns(
  transaction: Transaction<Tables>,
  dialect: Database['dialect'],
  runs: readonly PackedRun[],
): Promise<void> {
  const deleted = await findDeleted(
    transaction,
    dialect,
    runs.map(({ projectId }) => projectId),
  );
  const stored = runs.filter(({ projectId }) => !deleted.has(projectId));
  if (stored.length === 0) return;
  const rows = `[${stored.map(({ row }) => row).join(',')}]`;
  const into = `insert into run (${columns.join(', ')})`;
  if (dialect === 'sqlite') {
    const places = columns.map(() => '?').join(', ');
    await askThread(transaction, { sql: `${into} values (${places}) on conflict do nothing`, rows });
    return;
  }
  const values = columns.map((column, at) => (wholeNumbers.has(column) ? `(value->>${at})::bigint` : `value->>${at}`));
  await sql`${sql.raw(into)} select ${sql.raw(values.join(', '))} from json_array_elements(${rows}::json) as item (value)
    on conflict do nothing`.execute(transaction);
}

const wholeNumbers: ReadonlySet<string> = new Set(['created_at', 'lease_until']);

/** Returns the value of the `detail` column for a single row. */
export function detailText({ outcome: _, ...detail }: RunEnd): string {
  return JSON.stringify(detail satisfies Detail);
}

export function toRun(row: Selectable<RunTable>): StoredRun {
  const { lease_owner: owner, lease_until: until } = row;
  return {
    id: row.id,
    projectId: readProject(row.project_id),
    bundleId: row.bundle_id,
    pluginId: row.plugin_id,
    origin: row.origin as RunOrigin, // written by toValues
    isolation: row.isolation as Isolation, // written by toValues
    asynchronous: row.mode === 'async',
    createdAt: row.created_at,
    begunAt: row.begun_at,
    lease: owner === null || until === null ? null : { owner, until },
    end: toEnd(row),
  };
}

function toEnd({ outcome, detail }: Selectable<RunTable>): RunEnd | null {
  if (outcome === null || detail === null) return null;
  // This file wrote both values.
  return { ...(parseExactJson(detail) as Detail), outcome: outcome as RunOutcome };
}
