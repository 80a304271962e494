import { sql } from 'kysely';
import type { Database } from '../database.ts';
import { toPairKey } from '../pair-key.ts';
import { tableNames } from '../table-names.ts';

/** The tables whose rows belong to no project. */
export const tablesOfStore: ReadonlySet<string> = new Set([
  ...[
    'store',
    'node',
    'task_leader',
    'process',
    'commit_check',
    'verification',
    'answer_key',
    'key_change',
    'project_deletion',
  ],
  ...['account', 'session', 'set_up_token', 'attempt_counter', 'schema_migration', 'schema_migration_lock'],
  // The events of a deleted project stay. They name objects by their ids only.
  ...['oauth_client', 'audit_event', 'bundle_archive', 'bundle_client', 'blob_intent'],
  'trusted_publisher',
]);

/** Parents come before the rows that name them. */
const parents = ['project', 'blob', 'file', 'collection', 'record', 'chunk', 'index_segment', 'rate_limit'];

/** The values that a column must have. Other columns have a default for their type. */
const valuesOf: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  blob: { state: 'live' },
  file: { state: 'live', purpose: 'artifact' },
  collection: { status: 'ready' },
  record: { status: 'creating' },
  record_row: { status: 'rejected' },
  run: { mode: 'async' },
  index_segment: { state: 'live', pages: 1 },
  member: { role: 'viewer', source: 'manual' },
};
/** The tables that have one row for each project. */
const single = new Set(['project', 'project_usage', 'kept_answer_usage', 'input_keeper', 'record_key_turn']);
/** The tables that have many rows. */
const large = new Set(['api_key', 'blob', 'file', 'artifact', 'run']);
/** The columns whose values the database assigns. */
const counters: Readonly<Record<string, string>> = { chunk: 'seq', index_segment: 'id' };

interface Column {
  readonly name: string;
  readonly type: string;
}

/**
 * Adds two rows of a project to each table that can have some, and `many` to those with many rows.
 * @returns the tables
 */
export async function fillProject({ write, dialect }: Database, project: string, many = 2): Promise<Set<string>> {
  await sql`update record_turn set project_id = ${project}`.execute(write);
  for (const nth of [0, 1]) {
    await sql`insert into account (id, name, is_administrator, created_at, updated_at)
      values (${`${project}-account_id-${nth}`}, 'x', 0, 0, 0)`.execute(write);
  }
  const filled = new Set(['record_turn']);
  const assigned = new Map<string, number[]>();
  for (const table of [...parents, ...tableNames]) {
    if (filled.has(table) || tablesOfStore.has(table)) continue;
    const columns = await columnsOf(write, dialect, table);
    filled.add(table);
    // The rows of a view follow from those of its table.
    if (columns.length === 0) continue;
    const names = sql.join(columns.map(({ name }) => sql.ref(name)));
    const counter = counters[table];
    const returning = counter === undefined ? sql`` : sql`returning ${sql.ref(counter)} as id`;
    const ids: number[] = [];
    const rows = single.has(table) ? 1 : large.has(table) ? many : 2;
    for (let from = 0; from < rows; from += 100) {
      const values = Array.from({ length: Math.min(100, rows - from) }, (_, at) => {
        const place = { project, nth: from + at, assigned };
        return sql`(${sql.join(columns.map((column) => valuesOf[table]?.[column.name] ?? valueFor(table, column, place)))})`;
      });
      const result = await sql<{ id: number }>`insert into ${sql.table(table)} (${names}) values ${sql.join(values)}
        ${returning}`.execute(write);
      ids.push(...result.rows.map(({ id }) => id));
    }
    assigned.set(table, ids);
  }
  return filled;
}

interface Place {
  readonly project: string;
  readonly nth: number;
  /** The values of counters, by table. */
  readonly assigned: ReadonlyMap<string, readonly number[]>;
}

function valueFor(table: string, { name, type }: Column, { project, nth, assigned }: Place): unknown {
  if (name === 'project_id' || (table === 'project' && name === 'id')) return project;
  if (table === 'artifact' && name === 'id') return `${project}-file-${nth}`;
  if (name === 'key' && table === 'pair_key')
    return toPairKey(`${project}-collection-${nth}`, `${project}-row_key-${nth}`);
  if (name === 'seq') return assigned.get('chunk')?.[nth];
  if (table === 'index_page' && name === 'id') return (assigned.get('index_segment')?.[nth] ?? 0) * 2 ** 22;
  const parent = /^(blob|file|collection|record|rate_limit)_id$/.exec(name)?.[1];
  if (parent !== undefined) return `${project}-${parent}-${nth}`;
  if (/bytea|blob/i.test(type)) return Buffer.from([nth % 256]);
  if (/text/i.test(type)) return `${project}-${name === 'id' ? table : name}-${nth}`;
  return name === 'bytes' ? 1 : 0;
}

/** Returns the columns that need a value, and the optional references to parents. */
async function columnsOf(db: Database['write'], dialect: Database['dialect'], table: string): Promise<Column[]> {
  const query =
    dialect === 'sqlite'
      ? sql<Column>`select name, type from pragma_table_info(${table})
          where "notnull" = 1 or name in ('record_id', 'file_id', 'row_key')`
      : sql<Column>`select column_name as name, data_type as type from information_schema.columns
          where table_schema = current_schema() and table_name = ${table}
            and (is_nullable = 'NO' or column_name in ('record_id', 'file_id', 'row_key'))`;
  return (await query.execute(db)).rows.filter(({ name }) => counters[table] !== name);
}

/** Returns all rows by table, without those of the store. */
export async function readRows({ read }: Database): Promise<Record<string, string[]>> {
  const rows: Record<string, string[]> = {};
  for (const table of tableNames) {
    if (tablesOfStore.has(table)) continue;
    const named = table === 'record_turn' ? sql`where project_id <> ''` : sql``;
    const result = await sql<object>`select * from ${sql.table(table)} ${named}`.execute(read);
    rows[table] = result.rows.map((row) => JSON.stringify(row)).sort();
  }
  return rows;
}
