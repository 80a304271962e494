import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import type { Entries } from './entries.ts';

/** Returns the columns and constraints of each table of an SQLite file as declared, and its other objects. */
export function readSqliteTables(file: string): Entries {
  const database = new DatabaseSync(file, { readOnly: true });
  const rows = database.prepare("select * from sqlite_schema where sql is not null and name not like 'sqlite_%'").all();
  const shadows = database.prepare("select name from pragma_table_list where type = 'shadow'").all();
  database.close();
  const hidden = new Set(shadows.map(({ name }) => name));
  const entries: Entries = {};
  for (const { type, name, sql } of rows.filter((row) => !hidden.has(row.name))) {
    const text = oneLine(sql).replaceAll('"', '');
    const body = /^create table \S+ ?\((.*)\)([^)]*)$/i.exec(text);
    entries[`${type} ${name}`] = body === null ? text : (body[2] ?? '').trim();
    for (const declaration of splitDeclarations(body?.[1] ?? '')) {
      const [first = '', ...rest] = declaration.split(' ');
      const isConstraint = /^(primary|unique|check|foreign|constraint)$/i.test(first);
      if (isConstraint) entries[`constraint ${name} ${declaration}`] = '';
      else entries[`column ${name}.${first}`] = rest.join(' ');
    }
  }
  return entries;
}

/** Splits at the commas outside of parentheses. */
function splitDeclarations(body: string): string[] {
  let depth = 0;
  const parts = [''];
  for (const sign of body) {
    depth += sign === '(' ? 1 : sign === ')' ? -1 : 0;
    if (sign === ',' && depth === 0) parts.push('');
    else parts.push(parts.pop() + sign);
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

const postgresObjects = `
  select 'column ' || c.relname::text || '.' || a.attname::text as name,
    concat_ws(' ', format_type(a.atttypid, a.atttypmod), case when a.attnotnull then 'not null' end,
      case when a.attidentity <> '' then 'identity=' || a.attidentity::text end,
      case when a.attgenerated <> '' then 'generated=' || a.attgenerated::text end,
      case when a.attcollation <> t.typcollation then 'collate=' || l.collname::text end,
      'default=' || pg_get_expr(d.adbin, d.adrelid)) as text
  from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_type t on t.oid = a.atttypid
    left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum left join pg_collation l on l.oid = a.attcollation
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm') and a.attnum > 0 and not a.attisdropped
  union all
  select 'table ' || relname, concat_ws(' ', relkind::text, reloptions::text) from pg_class
  where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'S')
  union all
  select 'constraint ' || conrelid::regclass::text || ' ' || conname, pg_get_constraintdef(oid) from pg_constraint
  where connamespace = 'public'::regnamespace and contype <> 'n'
  union all
  select 'index ' || indexname, indexdef from pg_indexes where schemaname = 'public'
  union all
  select 'trigger ' || tgname, pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
  union all
  select 'function ' || oid::regprocedure::text, pg_get_functiondef(oid) from pg_proc where pronamespace = 'public'::regnamespace
  union all
  select 'extension ' || extname, '' from pg_extension where extname <> 'plpgsql'`;

/** Returns the columns, indexes, constraints, triggers, functions and extensions of a PostgreSQL database. */
export async function readPostgresTables(url: string): Promise<Entries> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string; text: string }>(postgresObjects);
    return Object.fromEntries(rows.map(({ name, text }) => [name, oneLine(text)]));
  } finally {
    await client.end();
  }
}

function oneLine(text: unknown): string {
  return String(text ?? '')
    .replace(/\s+/g, ' ')
    .trim();
}
