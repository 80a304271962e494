import { Kysely, PostgresDialect, PostgresQueryCompiler, sql } from 'kysely';
import pg from 'pg';
import type { Database } from './database.ts';
import { migrate } from './migrations.ts';
import type { DatabaseSettings } from './open-database.ts';
import { createPostgresFullText } from './postgres-full-text.ts';
import type { Tables } from './tables.ts';

const connections = 10;
/** Milliseconds until a server that does not answer counts as unreachable. */
const connectTimeout = 10_000;

/** Our whole numbers stay below 2^53 (ids are text); PostgreSQL's `bigint` and `sum(bigint)` come back as numbers. */
const numericTypes: ReadonlySet<number> = new Set([pg.types.builtins.INT8, pg.types.builtins.NUMERIC]);
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => (numericTypes.has(oid) ? Number : pg.types.getTypeParser(oid, format)),
};

/**
 * PostgreSQL keeps no U+0000 and refuses a statement that holds one. Nothing that is stored has it, so a text that does
 * is found nowhere, and is no failure of ours.
 */
class QueryCompiler extends PostgresQueryCompiler {
  protected override addParameter(parameter: unknown): void {
    const hasNul = typeof parameter === 'string' && parameter.includes('\0');
    super.addParameter(hasNul ? parameter.replaceAll('\0', '\ufffd') : parameter);
  }
}

class Dialect extends PostgresDialect {
  override createQueryCompiler(): QueryCompiler {
    return new QueryCompiler();
  }
}

/** A pool on a PostgreSQL server. @throws when the server does not keep what it acknowledges. */
export async function openPostgresDatabase(url: string, { logger }: DatabaseSettings): Promise<Database> {
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: connectTimeout,
    application_name: 'quartermaster',
    types,
  });
  // An idle connection that breaks is replaced by the pool at the next query; without a listener it ends the process.
  pool.on('error', (error) => logger.warn({ error: error.message }, 'an idle database connection broke'));
  // One that breaks between the statements of a transaction fails the next of them; nobody else listens meanwhile.
  pool.on('connect', (client) => {
    client.on('error', () => {});
  });
  const db = new Kysely<Tables>({ dialect: new Dialect({ pool }) });
  try {
    await assertDurable(db);
    await migrate(db, 'postgres');
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return {
    dialect: 'postgres',
    read: db,
    write: db,
    fullText: createPostgresFullText(),
    async check() {
      await sql`select 1`.execute(db);
    },
    close: () => db.destroy(),
  };
}

/** With one of these off, a power cut loses rows (or the whole database) that were acknowledged. */
async function assertDurable(db: Kysely<Tables>): Promise<void> {
  for (const name of ['fsync', 'full_page_writes', 'synchronous_commit']) {
    const { rows } = await sql<{ value: string }>`select current_setting(${name}) as value`.execute(db);
    if (rows[0]?.value === 'off') {
      throw new Error(
        `The PostgreSQL server runs with ${name} = off and would lose acknowledged data; turn it on, for the server, the database and the role.`,
      );
    }
  }
}
