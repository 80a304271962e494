import type { MetadataCondition, MetadataFilter } from '@quartermaster/contract';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Database } from './database.ts';

type Dialect = Database['dialect'];
type Value = string | number | boolean;

/** The condition as SQL over the rows `chunk` and `record`. Keys and values are parameters, never part of the text. */
export function metadataFilter(dialect: Dialect, filter: MetadataFilter): RawBuilder<SqlBool> {
  if ('filters' in filter) {
    const parts = filter.filters.map((part) => metadataFilter(dialect, part));
    return sql<SqlBool>`(${sql.join(parts, filter.type === 'and' ? sql` and ` : sql` or `)})`;
  }
  return condition(dialect, filter);
}

function condition(dialect: Dialect, { type, key, value }: MetadataCondition): RawBuilder<SqlBool> {
  const meets = dialect === 'sqlite' ? meetsSqlite : meetsPostgres;
  const values: readonly Value[] = Array.isArray(value) ? value : [value];
  const isNegated = type === 'ne' || type === 'nin';
  const operator = operators[type];
  const any = sql.join(
    values.map((each) => meets(operator, each)),
    sql` or `,
  );
  const found = sql<SqlBool>`exists (select 1 from (${entry(dialect, key)}) as entry where ${any})`;
  return isNegated ? sql<SqlBool>`not ${found}` : found;
}

const operators = {
  eq: sql`=`,
  ne: sql`=`,
  in: sql`=`,
  nin: sql`=`,
  gt: sql`>`,
  gte: sql`>=`,
  lt: sql`<`,
  lte: sql`<=`,
} as const;

/** Type and text of the chunk's entry of that name, else the record's; no row without one. */
function entry(dialect: Dialect, key: string) {
  if (dialect === 'sqlite') {
    return sql`select type, atom from (
      select 1 as place, type, atom from json_each(chunk.metadata) where key = ${key}
      union all select 2, type, atom from json_each(record.metadata) where key = ${key}
    ) order by place limit 1`;
  }
  const each = (column: string) => sql`json_each(${readable(sql.ref(column))}::json)`;
  return sql`select json_typeof(value) as type, value #>> '{}' as atom from (
      select 1 as place, value from ${each('chunk.metadata')} where key = ${key}
      union all select 2, value from ${each('record.metadata')} where key = ${key}
    ) as entries order by place limit 1`;
}

/**
 * PostgreSQL's JSON has neither U+0000 nor half a surrogate, which JSON writes as escapes; a whole pair never is one here.
 * What an escaped backslash stands before stays well-formed.
 */
function readable(column: RawBuilder<unknown>) {
  return sql`case when strpos(${column}, '\\u') = 0 then ${column}
    else regexp_replace(${column}, '\\\\u(0000|d[89a-f][0-9a-f]{2})', '\\\\ufffd', 'g') end`;
}

type Operator = (typeof operators)[keyof typeof operators];

function meetsSqlite(operator: Operator, value: Value): RawBuilder<SqlBool> {
  if (typeof value === 'boolean') return sql<SqlBool>`entry.type = ${String(value)}`;
  if (typeof value === 'string') return sql<SqlBool>`(entry.type = 'text' and entry.atom ${operator} ${value})`;
  return sql<SqlBool>`case
    when entry.type in ('integer', 'real') then entry.atom
    when entry.type = 'text' and json_valid(entry.atom) and json_type(entry.atom) in ('integer', 'real')
    then json_extract(entry.atom, '$') end ${operator} ${value}`;
}

/** What JSON calls a number, of a size that every float holds. */
const decimal = '^-?(0|[1-9][0-9]{0,30})([.][0-9]{1,30})?([eE][+-]?[0-9]{1,2})?$';

function meetsPostgres(operator: Operator, value: Value): RawBuilder<SqlBool> {
  if (typeof value === 'boolean') {
    return sql<SqlBool>`(entry.type = 'boolean' and entry.atom = ${String(value)}::text)`;
  }
  if (typeof value === 'string') {
    return sql<SqlBool>`(entry.type = 'string' and entry.atom collate "C" ${operator} ${value}::text)`;
  }
  return sql<SqlBool>`case
    when entry.type = 'number' or (entry.type = 'string' and entry.atom ~ ${sql.lit(decimal)})
    then entry.atom::float8 end ${operator} ${value}::float8`;
}
