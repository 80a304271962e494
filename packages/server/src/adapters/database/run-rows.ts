import type { Isolation, RunOrigin, RunOutcome } from '@quartermaster/contract';
import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { RunEnd, StoredRun } from '../../runs/run-repository.ts';
import type { Database } from './database.ts';
import type { RunTable } from './run-tables.ts';

/** Everything about the end of a run that no query asks for. */
type Detail = Omit<RunEnd, 'outcome'>;

/**
 * One insert for any number of runs with one parameter: the rows as JSON. Binding each column of each row costs the
 * event loop ten times as much.
 */
export function insertRuns(dialect: Database['dialect'], runs: readonly StoredRun[]): RawBuilder<unknown> {
  // PostgreSQL undoes every escape of the whole text, and no text of it can hold a NUL: details go as text within it.
  const detailOf = dialect === 'sqlite' ? toDetail : (end: RunEnd) => JSON.stringify(toDetail(end));
  const rows = JSON.stringify(runs.map((run) => toValues(run, run.end && detailOf(run.end))));
  const whole = dialect === 'sqlite' ? sql`integer` : sql`bigint`;
  const elements =
    dialect === 'sqlite' ? sql`json_each(${rows})` : sql`json_array_elements(${rows}::json) as item (value)`;
  return sql`
    insert into run (project_id, id, bundle_id, plugin_id, origin, isolation, mode, created_at, lease_owner, lease_until, outcome, detail)
    select value->>0, value->>1, value->>2, value->>3, value->>4, value->>5, value->>6, cast(value->>7 as ${whole}),
      value->>8, cast(value->>9 as ${whole}), value->>10, value->>11
    from ${elements} where true on conflict do nothing`;
}

function toValues(run: StoredRun, detail: Detail | string | null) {
  const { id, projectId, bundleId, pluginId, origin, isolation, asynchronous, createdAt, lease, end } = run;
  const mode = asynchronous ? 'async' : 'sync';
  const until = lease === null ? null : lease.until;
  const outcome = end === null ? null : end.outcome;
  const owner = lease === null ? null : lease.owner;
  return [projectId, id, bundleId, pluginId, origin, isolation, mode, createdAt, owner, until, outcome, detail];
}

function toDetail({ outcome: _, ...detail }: RunEnd): Detail {
  return detail;
}

/** The column, for a single row. */
export function detailText(end: RunEnd): string {
  return JSON.stringify(toDetail(end));
}

export function toRun(row: Selectable<RunTable>): StoredRun {
  const { lease_owner: owner, lease_until: until } = row;
  return {
    id: row.id,
    projectId: row.project_id,
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
  // Both were written by this file.
  return { ...(JSON.parse(detail) as Detail), outcome: outcome as RunOutcome };
}
