import { CompiledQuery, type Kysely, sql } from 'kysely';
import type { Tables } from '../../database/tables.ts';

type Row = Readonly<Record<string, string | number | null>>;

/** `copy` needs a round trip more, and its records of the write-ahead log contain all rows of a page. */
const leastCopied = 65;

/**
 * Prepares the insert of rows in PostgreSQL, which all have the same columns.
 * @returns the function that inserts them
 */
export function prepareInsert(
  table: keyof Tables,
  rows: readonly Row[],
): (transaction: Kysely<Tables>) => Promise<unknown> {
  const names = Object.keys(rows[0] ?? {});
  if (rows.length >= leastCopied) {
    const columns = names.map((name) => `"${name}"`).join();
    // The pool sends the parameter as the data of the statement.
    const copy = CompiledQuery.raw(`copy "${table}" (${columns}) from stdin`, [toCopyText(rows)]);
    return (transaction) => transaction.executeQuery(copy);
  }
  const values = rows.map((row) => sql`(${sql.join(Object.values(row))})`);
  const insert = sql`insert into ${sql.table(table)} (${sql.join(names.map((name) => sql.ref(name)))})
    overriding system value values ${sql.join(values)}`;
  return (transaction) => insert.execute(transaction);
}

/** PostgreSQL stores no U+0000. The pool replaces it in parameters by the same character. */
const escapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\0': '\ufffd',
};

/** Returns the text format of `copy`. */
function toCopyText(rows: readonly Row[]): string {
  const toField = (value: string | number | null) =>
    value === null ? '\\N' : String(value).replaceAll(/[\\\n\r\t\0]/g, (found) => escapes[found] ?? found);
  return rows.map((row) => `${Object.values(row).map(toField).join('\t')}\n`).join('');
}
