import { sql } from 'kysely';
import type { Database } from './database.ts';

export interface DatabaseCheck {
  /** The kind of check, as a sentence. */
  readonly checked: string;
  /** The errors, as the database reports them. Empty: no damage was found. */
  readonly findings: readonly string[];
}

const mostFindings = 100;

/** Reads the whole database for damage. Takes as long as reading it takes. */
export async function checkDatabase(database: Database): Promise<DatabaseCheck> {
  return database.dialect === 'sqlite' ? checkSqlite(database) : checkPostgres(database);
}

async function checkSqlite({ read }: Database): Promise<DatabaseCheck> {
  const checked = 'SQLite: pragma integrity_check (every page, row and index)';
  try {
    const { rows } = await sql<object>`pragma integrity_check(${sql.lit(mostFindings)})`.execute(read);
    const said = rows.flatMap((row) => Object.values(row)).map(String);
    return { checked, findings: said.join() === 'ok' ? [] : said };
  } catch (error) {
    return { checked, findings: [messageOf(error)] };
  }
}

/** Pages of one statement, so that none runs into a timeout. */
const pagesPerStatement = 4_096;

/**
 * PostgreSQL has no check that a role without privileges may run, so every row of every table is read and written out as
 * text: pages that fail their checksum, broken rows and missing parts of long values are errors. Indexes are not compared.
 */
async function checkPostgres({ read }: Database): Promise<DatabaseCheck> {
  const checked = 'PostgreSQL: every row of every table was read; indexes were not compared (use amcheck for them)';
  const { rows: tables } = await sql<{ name: string; pages: number }>`
    select c.oid::regclass::text as name, (pg_relation_size(c.oid) / current_setting('block_size')::int)::int as pages
    from pg_class c where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace order by 1`.execute(read);
  const findings: string[] = [];
  for (const { name, pages } of tables) {
    for (let from = 0; from < pages && findings.length < mostFindings; from += pagesPerStatement) {
      const [first, last] = [`(${from},0)`, `(${from + pagesPerStatement},0)`];
      try {
        await sql`select count(t::text) from ${sql.raw(name)} t
          where ctid >= ${sql.lit(first)}::tid and ctid < ${sql.lit(last)}::tid`.execute(read);
      } catch (error) {
        findings.push(`${name}, pages ${from} to ${from + pagesPerStatement - 1}: ${messageOf(error)}`);
      }
    }
  }
  return { checked, findings };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
