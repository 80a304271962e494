import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database } from './database.ts';
import { checkUnfinished } from './problems.ts';

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

/** Pages of one statement. After a failure it reads a quarter of them, because the values of a row may be long. */
const pagesPerStatement = 256;
/** Failures in a row after which the check ends. */
const mostFailures = 6;
const pauseMs = 250;

/** Data or an index is corrupted, or an assertion about stored data failed; a file is missing, or cannot be read. Source: PostgreSQL manual, appendix A. */
const corruption = /^(XX...|58...)$/;

/**
 * PostgreSQL has no check that a role without privileges may run, so every row of every table is read and written out as
 * text: pages that fail their checksum, broken rows and missing parts of long values are errors. Indexes are not compared.
 * @throws when the server does not let it finish, such as by a timeout: that is no damage
 */
async function checkPostgres({ read }: Database): Promise<DatabaseCheck> {
  const checked = 'PostgreSQL: every row of every table was read; indexes were not compared (use amcheck for them)';
  const { rows: tables } = await sql<{ name: string; pages: number }>`
    select c.oid::regclass::text as name, (pg_relation_size(c.oid) / current_setting('block_size')::int)::int as pages
    from pg_class c where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace order by 1`.execute(read);
  const findings: string[] = [];
  for (const { name, pages } of tables) {
    let [from, step, failures] = [0, pagesPerStatement, 0];
    while (from < pages && findings.length < mostFindings) {
      const place = `${name}, pages ${from} to ${from + step - 1}`;
      try {
        await readPages(read, name, [from, from + step]);
      } catch (error) {
        const finding = corruptionIn(error);
        if (finding === undefined) {
          failures += 1;
          if (failures === mostFailures) throw checkUnfinished(place, error);
          step = Math.max(1, Math.floor(step / 4));
          await setTimeout(pauseMs);
          continue;
        }
        findings.push(`${place}: ${finding}`);
      }
      from += step;
      [step, failures] = [Math.min(pagesPerStatement, step * 2), 0];
    }
  }
  return { checked, findings };
}

async function readPages(read: Database['read'], name: string, [first, end]: readonly [number, number]): Promise<void> {
  await sql`select count(t::text) from ${sql.raw(name)} t
    where ctid >= ${sql.lit(`(${first},0)`)}::tid and ctid < ${sql.lit(`(${end},0)`)}::tid`.execute(read);
}

/** The message of the server when it reports corruption; the error may be the cause of one of the service. */
function corruptionIn(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && corruption.test(String(cause.code))) return cause.message;
  }
  return undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
