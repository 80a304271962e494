import type { IdComparison, MetadataCondition, PresenceCondition, TextCondition } from '@quartermaster/contract';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { ChunkFilter, DateCondition } from '../../stores/search/chunk-index.ts';
import type { Database } from './database.ts';

type Dialect = Database['dialect'];
type Value = string | number | boolean;
type ComparisonCondition = Exclude<MetadataCondition, TextCondition | PresenceCondition>;

/**
 * Translates the condition to SQL over the rows `chunk` and `record`. Keys and values are parameters and never part of
 * the SQL text.
 */
export function metadataFilter(dialect: Dialect, filter: ChunkFilter): RawBuilder<SqlBool> {
  if ('filters' in filter) {
    const parts = filter.filters.map((part) => metadataFilter(dialect, part));
    return sql<SqlBool>`(${sql.join(parts, filter.type === 'and' ? sql` and ` : sql` or `)})`;
  }
  return 'field' in filter ? idCondition(filter) : condition(dialect, filter);
}

const idColumns = { record_id: sql.ref('chunk.record_id'), file_id: sql.ref('record.file_id') } as const;

/** A chunk without an id is unequal to all. */
function idCondition({ type, field, value }: IdComparison): RawBuilder<SqlBool> {
  const found = sql<SqlBool>`coalesce(${idColumns[field]} in (${sql.join([value].flat())}), false)`;
  return negated.has(type) ? sql<SqlBool>`not ${found}` : found;
}

type Condition = MetadataCondition | DateCondition;

function condition(dialect: Dialect, condition: Condition): RawBuilder<SqlBool> {
  const { type, key } = condition;
  const found = sql<SqlBool>`exists (select 1 from (${findEntry(dialect, key)}) as entry where ${matches(dialect, condition)})`;
  return negated.has(type) ? sql<SqlBool>`not ${found}` : found;
}

const negated: ReadonlySet<(Condition | IdComparison)['type']> = new Set(['ne', 'nin', 'not_contains', 'empty']);

/** Compares the row `entry` with the condition, without its negation. */
function matches(dialect: Dialect, condition: Condition): RawBuilder<SqlBool> {
  switch (condition.type) {
    case 'empty':
    case 'not_empty':
      return sql`entry.type <> 'null' and coalesce(entry.atom, '-') <> ''`;
    case 'contains':
    case 'not_contains':
    case 'starts_with':
    case 'ends_with': {
      const { entry, value } = forms[dialect].string;
      return sql`${entry} is not null and ${parts[dialect][condition.type](value(condition.value))}`;
    }
    case 'after':
    case 'before': {
      const type = condition.type === 'after' ? 'gt' : 'lt';
      return sql`(${beginsLikeDate[dialect]}) and ${equalsOrOrders(dialect, { ...condition, type })}`;
    }
    default:
      return equalsOrOrders(dialect, condition);
  }
}

type TextType = TextCondition['type'];
type Part = (value: RawBuilder<unknown>) => RawBuilder<SqlBool>;

const parts: Record<Dialect, Record<TextType, Part>> = {
  sqlite: {
    contains: (value) => sql`instr(entry.atom, ${value}) > 0`,
    not_contains: (value) => sql`instr(entry.atom, ${value}) > 0`,
    starts_with: (value) => sql`substr(entry.atom, 1, length(${value})) = ${value}`,
    ends_with: (value) => sql`substr(entry.atom, -length(${value})) = ${value}`,
  },
  postgres: {
    contains: (value) => sql`strpos(entry.atom, ${value}) > 0`,
    not_contains: (value) => sql`strpos(entry.atom, ${value}) > 0`,
    starts_with: (value) => sql`starts_with(entry.atom, ${value})`,
    ends_with: (value) => sql`right(entry.atom, length(${value})) = ${value}`,
  },
};

function equalsOrOrders(dialect: Dialect, { type, value }: ComparisonCondition): RawBuilder<SqlBool> {
  const values: readonly Value[] = Array.isArray(value) ? value : [value];
  const any = kinds.flatMap((kind) => {
    const of = values.filter((each) => typeof each === kind);
    const { entry, value } = forms[dialect][kind];
    // One comparison covers all values of a type, because a query may contain thousands.
    return of.length === 0 ? [] : [sql<SqlBool>`(${entry} ${operators[type]} (${sql.join(of.map(value))}))`];
  });
  return sql`${sql.join(any, sql` or `)}`;
}

/** Whether an entry begins with a year and a month, such as 2026-05. */
const beginsLikeDate: Record<Dialect, RawBuilder<SqlBool>> = {
  sqlite: sql`entry.atom glob '[0-9][0-9][0-9][0-9]-[0-9][0-9]*'`,
  postgres: sql`entry.atom ~ '^[0-9]{4}-[0-9]{2}'`,
};

const operators = {
  eq: sql`in`,
  ne: sql`in`,
  in: sql`in`,
  nin: sql`in`,
  gt: sql`>`,
  gte: sql`>=`,
  lt: sql`<`,
  lte: sql`<=`,
} as const;

/**
 * Selects the type and text of the chunk's entry with that name, or of the record's. Returns no row when neither has
 * one.
 */
function findEntry(dialect: Dialect, key: string) {
  if (dialect === 'sqlite') {
    const each = (column: string) => sql`json_each(${readable.sqlite(sql.ref(column))})`;
    const name = readableText(key);
    return sql`select type, atom from (
      select 1 as place, type, atom from ${each('chunk.metadata')} where key = ${name}
      union all select 2, type, atom from ${each('record.metadata')} where key = ${name}
    ) order by place limit 1`;
  }
  const each = (column: string) => sql`json_each(${readable.postgres(sql.ref(column))}::json)`;
  return sql`select json_typeof(value) as type, value #>> '{}' as atom from (
      select 1 as place, value from ${each('chunk.metadata')} where key = ${key}
      union all select 2, value from ${each('record.metadata')} where key = ${key}
    ) as entries order by place limit 1`;
}

/**
 * Reads U+0000 and each half of a surrogate pair, which JSON writes as escapes, as U+FFFD. PostgreSQL's JSON accepts neither
 * of them. A valid surrogate pair is never escaped here. An escape that follows an escaped backslash is ordinary text.
 */
const readable: Record<Dialect, (column: RawBuilder<unknown>) => RawBuilder<unknown>> = {
  // The function is that of `readable-json.ts`.
  sqlite: (column) => sql`case when instr(${column}, '\\u') > 0 then readable_json(${column}) else ${column} end`,
  postgres: (column) => sql`case when strpos(${column}, '\\u') = 0 then ${column}
    else regexp_replace(${column}, '(?<!\\\\)((?:\\\\\\\\)*)\\\\u(0000|d[89a-f][0-9a-f]{2})', '\\1\\\\ufffd', 'g') end`,
};

/** The parameters of PostgreSQL are changed in the same way (`postgres-database.ts`). */
const readableText = (text: string) => text.replaceAll('\0', '\ufffd');

const kinds = ['string', 'number', 'boolean'] as const;

/** The comparison of an entry with values of one type. `entry` is the left operand. */
interface Form {
  readonly entry: RawBuilder<unknown>;
  readonly value: (value: Value) => RawBuilder<unknown>;
}

/*
 * A text counts as a number when it is a JSON number and short enough for a float, including its exponent. Both
 * databases accept the same texts and compare them as floats.
 */
const longest = 40;
const sqliteNumber = sql`json_valid(entry.atom) and json_type(entry.atom) in ('integer', 'real')
    and trim(entry.atom, char(9, 10, 13, 32)) = entry.atom
    and length(entry.atom) <= ${sql.lit(longest)} and entry.atom not glob '*[eE]*[0-9][0-9][0-9]'`;
const postgresNumber = sql`length(entry.atom) <= ${sql.lit(longest)}
    and entry.atom ~ '^-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][+-]?[0-9]{1,2})?$'`;

const forms: Record<Dialect, Record<(typeof kinds)[number], Form>> = {
  sqlite: {
    string: { entry: sql`entry.type = 'text' and entry.atom`, value: (value) => sql`${readableText(String(value))}` },
    number: {
      entry: sql`case when entry.type in ('integer', 'real') then cast(entry.atom as real)
        when entry.type = 'text' and ${sqliteNumber} then cast(entry.atom as real) end`,
      value: (value) => sql`${value}`,
    },
    boolean: { entry: sql`entry.type`, value: (value) => sql`${String(value)}` },
  },
  postgres: {
    string: { entry: sql`entry.type = 'string' and entry.atom collate "C"`, value: (value) => sql`${value}::text` },
    number: {
      entry: sql`case when entry.type = 'number' or (entry.type = 'string' and ${postgresNumber})
        then entry.atom::float8 end`,
      value: (value) => sql`${value}::float8`,
    },
    boolean: { entry: sql`entry.type = 'boolean' and entry.atom`, value: (value) => sql`${String(value)}::text` },
  },
};
